// Why a loop goes on, or stopped.
#pragma once
#include <string_view>

namespace krill {

/// The state of a solve. `running` is 0; everything else ends the loop it is set in.
enum class Reason : int {
  running = 0,
  converged,
  max_iterations,
  diverged,
  stagnated,
  limit_of_accuracy,  ///< the residual is what rounding x leaves of it, and the target lies below
  breakdown_rho,      ///< BiCGStab: the shadow residual is orthogonal to the residual
  breakdown_omega,    ///< BiCGStab: the stabilising step has no length
  breakdown_basis,    ///< GMRES: the new basis vector vanished although the residual did not
  not_positive_definite,
  indefinite_preconditioner,
  zero_pivot,
  not_finite,
  not_representable,  ///< x, or a norm that decides, lies outside of the range of its type
  time_limit,
  interrupted,
};

/// The word that reports use: "converged", "max_iterations", ...
std::string_view name(Reason);

}  // namespace krill
