// Whether a preconditioner is kept in another precision than the solve's.
#pragma once
#include "krill/solvers/precond/options.hpp"

namespace krill {

/// Whether it is kept and applied in single precision; in a solve in single precision that says nothing.
inline bool is_kept_in_float32(const PreconditionerOptions& options) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.precision; })
          return o.precision == KeptPrecision::float32;
        else
          return false;
      },
      options);
}

}  // namespace krill
