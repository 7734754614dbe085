// The error of a conversion whose result would take much more memory than CSR.
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "sparse/convert/formats.hpp"

namespace krill::detail {

/// Raises InvalidArgument where a format would take much more memory than CSR does.
template <class T, class Offset>
void require_growth(std::string_view what, const Csr<T, Offset>& A, double bytes, GrowthLimit limit,
                    const std::string& why, std::string_view instead) {
  if (bytes <= limit.max * static_cast<double>(A.bytes()) + 1024.0 * 1024.0) return;
  throw InvalidArgument(fmt::format("{} would need {}, {:.0f} times the {} of csr ({}): use {}", what,
                                    human_bytes(static_cast<std::size_t>(std::min(bytes, 1e18))),
                                    bytes / static_cast<double>(A.bytes()), human_bytes(A.bytes()), why, instead));
}

}  // namespace krill::detail
