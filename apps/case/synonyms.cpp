#include "apps/case/synonyms.hpp"

#include <algorithm>

#include "apps/case/suggest.hpp"

namespace krill::apps {

const std::vector<Synonym>& synonyms() {
  constexpr Synonym::Kind type = Synonym::Kind::type;
  static const std::vector<Synonym> all{
      {"tol", "solver.stop.relative"},
      {"rtol", "solver.stop.relative"},
      {"reltol", "solver.stop.relative"},
      {"rel_tol", "solver.stop.relative"},
      {"tolerance", "solver.stop.relative"},
      {"relative_tolerance", "solver.stop.relative"},
      {"eps", "solver.stop.relative"},
      {"ksp_rtol", "solver.stop.relative"},
      {"atol", "solver.stop.absolute"},
      {"abstol", "solver.stop.absolute"},
      {"abs_tol", "solver.stop.absolute"},
      {"absolute_tolerance", "solver.stop.absolute"},
      {"ksp_atol", "solver.stop.absolute"},
      {"dtol", "solver.stop.divergence"},
      {"divtol", "solver.stop.divergence"},
      {"ksp_divtol", "solver.stop.divergence"},
      {"timeout", "solver.stop.time_limit"},
      {"max_time", "solver.stop.time_limit"},
      {"max_it", "solver.max_iterations"},
      {"max_its", "solver.max_iterations"},
      {"maxit", "solver.max_iterations"},
      {"maxiter", "solver.max_iterations"},
      {"max_iter", "solver.max_iterations"},
      {"max_iters", "solver.max_iterations"},
      {"iterations", "solver.max_iterations"},
      {"ksp_max_it", "solver.max_iterations"},
      {"ksp_gmres_restart", "solver.restart"},
      {"krylov_dim", "solver.restart"},
      {"ksp", "solver"},
      {"ksp_type", "solver.type"},
      {"krylov", "solver"},
      {"linear_solver", "solver"},
      {"method", "solver.type"},
      {"pc", "preconditioner"},
      {"pc_type", "preconditioner.type"},
      {"precond", "preconditioner"},
      {"precon", "preconditioner"},
      {"smoother", "preconditioner"},
      {"sub_pc", "preconditioner.inner"},
      {"sub_pc_type", "preconditioner.inner"},
      {"mat", "matrix"},
      {"right_hand_side", "rhs"},
      {"x0", "initial_guess"},
      {"guess", "initial_guess"},
      {"dtype", "precision"},
      {"reordering", "ordering"},
      {"permutation", "ordering"},
      {"storage", "format"},
      {"cg", "pcg", type},
      {"conjugate_gradient", "pcg", type},
      {"conjugate_gradients", "pcg", type},
      {"bcgs", "bicgstab", type},
      {"bi_cgstab", "bicgstab", type},
      {"gmres_m", "gmres", type},
      {"ilu", "ilu0", type},
      {"ilu(0)", "ilu0", type},
      {"incomplete_lu", "ilu0", type},
      {"ic", "ic0", type},
      {"icc", "ic0", type},
      {"ic(0)", "ic0", type},
      {"ichol", "ic0", type},
      {"ilu(k)", "iluk", type},
      {"riluk", "iluk", type},
      {"iluth", "ilut", type},
      {"ic(k)", "ick", type},
      {"icck", "ick", type},
      {"incomplete_cholesky", "ic0", type},
      {"bjacobi", "block_jacobi", type},
      {"diag", "jacobi", type},
      {"diagonal", "jacobi", type},
      {"gs", "gauss_seidel", type},
      {"sgs", "ssor", type},
      {"sor", "ssor", type},
      {"cheby", "chebyshev", type},
      {"spai", "isai", type},
      {"asm", "schwarz", type},
      {"ras", "schwarz", type},
      {"additive_schwarz", "schwarz", type},
      {"fieldsplit", "schur", type},
      {"gamg", "amg", type},
      {"boomeramg", "amg", type},
      {"identity", "none", type},
  };
  return all;
}

std::optional<Synonym> synonym(std::string_view word, Synonym::Kind kind) {
  const auto at = std::ranges::find_if(
      synonyms(), [&](const Synonym& one) { return one.kind == kind && same_word(one.word, word); });
  return at == synonyms().end() ? std::nullopt : std::optional(*at);
}

}  // namespace krill::apps
