// A solve by way of a transformed system, judged by the original one.
#pragma once
#include <memory>
#include <span>

#include "solvers/solver.hpp"
#include "solvers/transform/transformation.hpp"

namespace krill {

/// A system as it was given, in double precision, where the one at hand was rounded from it.
template <class T>
struct GivenSystem {
  std::shared_ptr<const AnyMatrix<wide_t<T>>> A;
  Array<wide_t<T>> b;
};

/// The solver of a system that is solved with one right-hand side after the other. One at a time is kept.
template <class T>
class KeptSolver {
 public:
  /// The options may change until the first solve. All of them must outlive it.
  KeptSolver(const SolverOptions& options, const Operator<T>& A, const Preconditioner<T>& M);
  const SolverOptions& options() const { return options_; }
  /// By the solver of the options, which is made the first time and stays.
  SolveReport solve(Context&, const Array<T>& b, Array<T>& x, const Watch&);
  /// By a solver with other options, which takes its place and goes afterwards.
  SolveReport solve(Context&, const SolverOptions&, const Array<T>& b, Array<T>& x, const Watch&);
  /// A or M changed in more than values that captured graphs read: the next solve makes the solver anew.
  void forget() { solver_.reset(); }
  /// Of the vectors of the solver that was used last.
  std::size_t bytes() const { return bytes_; }

 private:
  SolveReport run(Context&, Solver<T>&, const Array<T>& b, Array<T>& x, const Watch&);

  const SolverOptions& options_;
  const Operator<T>& A_;
  const Preconditioner<T>& M_;
  std::unique_ptr<Solver<T>> solver_;
  std::size_t bytes_ = 0;
};

/// Solves the original system by way of the transformed one: the solver is of the latter, `original` is the matrix of
/// the former, which is needed (and multiplied with) only where the transformation scales. `given` is the system that
/// `original` and b were rounded from, null where nothing was rounded; it takes their place as a judge, on the host.
/// The report's norms, target and reason are those of the system that judges: it has converged if and only if
/// ||b - original x|| says so, computed anew. Where the system that is solved has reached its target and the judge's
/// has not, the solve goes on to a smaller target, as long as each time at least halves the residual; then it has
/// stagnated. The history and the recurrence's residual are those of the system that is solved. Iterations count
/// together. A batch is not transformed, and each of its systems is judged by what that was rounded from. Where several
/// ranks share A, each has all of b and x, and solves and preconditions its own rows.
template <class T>
SolveReport solve_transformed(Context&, KeptSolver<T>&, const Transformation<T>&, const AnyMatrix<T>* original,
                              const GivenSystem<T>* given, const Array<T>& b, Array<T>& x, const Watch&);

/// ||v|| without overflow or underflow on the way.
template <class T>
double norm(std::span<const T> v);

}  // namespace krill
