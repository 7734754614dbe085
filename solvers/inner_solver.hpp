// A solver as the preconditioner of another one.
#pragma once
#include <memory>

#include "solvers/solver.hpp"

namespace krill {

template <class T>
class Krylov;

/// Solvers that may stand inside of each other as preconditioners.
inline constexpr int max_nested_solvers = 2;

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
  /// The same with an operator of its own.
  InnerSolver(const SolverOptions& options, std::unique_ptr<MatrixOperator<T>> A, std::unique_ptr<Preconditioner<T>> M);
  ~InnerSolver() override;

  const Array<T>& apply(Context&, const Array<T>& r, Array<T>& z) const override;
  /// That of the preconditioner inside, and the vectors of the solver.
  PreconditionerReport report() const override;
  /// Of max_iterations iterations: an application that meets its tolerance before does less.
  ApplicationWork work() const override;
  /// A, which the operator belongs to, has new values: of the preconditioner inside.
  void update(Context&, const AnyMatrix<T>& A) override;
  void require_definite(Context&) const override;

  bool varies() const override { return true; }
  int nested_solvers() const override { return depth_; }

 private:
  InnerSolver(const SolverOptions&, const Operator<T>& A, std::unique_ptr<MatrixOperator<T>> own,
              std::unique_ptr<Preconditioner<T>> M);

  SolverOptions options_;
  std::unique_ptr<MatrixOperator<T>> own_;
  const Operator<T>& A_;
  std::unique_ptr<Preconditioner<T>> M_;
  int depth_;
  std::unique_ptr<Solver<T>> solver_;
  Krylov<T>* krylov_;  // solver_
};

}  // namespace krill
