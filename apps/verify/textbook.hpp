// Krylov methods as textbooks have them, on Eigen's vectors and products: what iterations are compared with.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "apps/verify/references.hpp"
#include "solvers/options.hpp"

namespace krill::apps::verify {

/// z = M r.
template <class T>
using ApplyPreconditioner = std::function<std::vector<T>(const std::vector<T>&)>;

struct TextbookSolve {
  std::vector<double> residuals;  ///< ||b - A x|| after 0, 1, ... iterations, as the method carries it along
  double true_residual = 0;       ///< ||b - A x|| of the last x
};

/// Iterates until the residual is at most `target` or the options' iterations are over. One thread; vectors in T, dots
/// in double.
template <class T>
TextbookSolve textbook_solve(const SolverOptions&, const Rows<T>& A, const ApplyPreconditioner<T>& M,
                             std::span<const T> b, std::span<const T> x0, double target);

}  // namespace krill::apps::verify
