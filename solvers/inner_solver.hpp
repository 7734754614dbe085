// A solver as the preconditioner of another one.
#pragma once
#include <memory>
#include <string_view>

#include "solvers/solver.hpp"

namespace krill {

template <class T>
class Krylov;

/// M r is what a solver makes of A z = r from z = 0, until its own tolerance or max_iterations. That is another matrix
/// for every r, so fcg, fgmres and richardson take it, the others refuse it (require_fixed). Its own preconditioner may
/// be an InnerSolver again, if the inner solver is one of these; that is as deep as it goes. Capturable: its loop
/// becomes a while node in the loop around it. The same bits every time.
///
/// A zero r gives z = 0, and a tolerance of 0 takes max_iterations. Time limit and interruption are those of the outer
/// solve and end the inner one, too, after an iteration. Keeps what the solver keeps.
template <class T>
class InnerSolver final : public Preconditioner<T> {
 public:
  /// A must outlive it. Raises InvalidArgument for a solver without an iteration of its own (banded, auto), for
  /// stop.time_limit, for stop.baseline backward_error, where the solver refuses M, and where M holds two solvers
  /// already.
  InnerSolver(const SolverOptions& options, const Operator<T>& A, std::unique_ptr<Preconditioner<T>> M);
  ~InnerSolver() override;

  const Array<T>& apply(Context&, const Array<T>& r, Array<T>& z) const override;
  /// That of the preconditioner inside, and the vectors of the solver.
  PreconditionerReport report() const override;
  /// Of max_iterations iterations: an application that meets its tolerance before does less.
  ApplicationWork work() const override;
  /// A, which the operator belongs to, has new values: of the preconditioner inside.
  void update(Context&, const AnyMatrix<T>& A) override;
  void require_definite(Context&) const override;

  /// Solvers inside of each other in an application: 1 or 2.
  int depth() const { return depth_; }

 private:
  SolverOptions options_;
  std::int64_t rows_;
  std::unique_ptr<Preconditioner<T>> M_;
  int depth_;
  std::unique_ptr<Solver<T>> solver_;
  Krylov<T>* krylov_;  // solver_
};

/// For solvers whose preconditioner has to be the same matrix in every iteration. Raises InvalidArgument for an
/// InnerSolver.
template <class T>
void require_fixed(std::string_view solver, const Preconditioner<T>& M);

}  // namespace krill
