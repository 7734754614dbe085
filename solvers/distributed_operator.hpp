// A matrix that several ranks share, as a solver sees it.
#pragma once
#include "solvers/operator.hpp"
#include "solvers/solver.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// The operator of a distributed matrix, which must outlive it. Solvers that are made of it, with a preconditioner of
/// this rank's rows, take and give vectors of own rows; all ranks solve together, in as many iterations, and get the
/// same report but for times of the history. Sums are added in the order of ranks: the same bits in every run with as
/// many ranks.
template <class T>
class DistributedOperator final : public Operator<T> {
 public:
  /// rows: for matrix_rows(), while preconditioners are made; null: there are none.
  explicit DistributedOperator(const Distributed<T>& A, const AnyMatrix<T>* rows = nullptr) : A_(A), rows_(rows) {}
  const Distributed<T>& distributed() const { return A_; }
  std::int64_t rows() const override { return A_.rows(); }
  RowShare share() const override { return {&A_.team(), &A_.partition()}; }
  const AnyMatrix<T>* matrix_rows() const override { return rows_; }
  using Operator<T>::apply;
  void apply(Context& ctx, Op op, const Array<T>& x, Array<T>& y) const override { apply(ctx, op, x, y, {}); }
  void apply(Context&, Op, const Array<T>& x, Array<T>& y, const Dots<T>&) const override;
  double frobenius_norm(Context&) const override;

 private:
  const Distributed<T>& A_;
  const AnyMatrix<T>* rows_;
};

/// solver.solve() for vectors of all rows that every rank has: each solves for its own rows and gets all of x.
template <class T>
SolveReport solve_own_rows(Context&, Solver<T>& solver, const RowShare&, const Array<T>& b, Array<T>& x,
                           const Watch& watch = {});

}  // namespace krill
