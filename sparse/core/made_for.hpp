// Plans stay on the backend that they were made for.
#pragma once
#include <string>

#include "sparse/core/context.hpp"
#include "sparse/core/error.hpp"

namespace krill::detail {

/// Raises InvalidArgument where `what`, which was made on CUDA or on the host, is used on the other one.
inline void require_made_for(const Context& ctx, bool made_on_cuda, const std::string& what) {
  if (ctx.on_cuda() == made_on_cuda) return;
  throw InvalidArgument(what + ": it was made for " +
                        (made_on_cuda ? "CUDA, make another one for the host" : "the host, make another one for CUDA"));
}

}  // namespace krill::detail
