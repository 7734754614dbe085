#include "sparse/core/reason.hpp"

namespace krill {

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::running:
      return "running";
    case Reason::converged:
      return "converged";
    case Reason::max_iterations:
      return "max_iterations";
    case Reason::diverged:
      return "diverged";
    case Reason::stagnated:
      return "stagnated";
    case Reason::limit_of_accuracy:
      return "limit_of_accuracy";
    case Reason::breakdown_rho:
      return "breakdown_rho";
    case Reason::breakdown_omega:
      return "breakdown_omega";
    case Reason::breakdown_basis:
      return "breakdown_basis";
    case Reason::not_positive_definite:
      return "not_positive_definite";
    case Reason::indefinite_preconditioner:
      return "indefinite_preconditioner";
    case Reason::zero_pivot:
      return "zero_pivot";
    case Reason::not_finite:
      return "not_finite";
    case Reason::not_representable:
      return "not_representable";
    case Reason::time_limit:
      return "time_limit";
    case Reason::interrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace krill
