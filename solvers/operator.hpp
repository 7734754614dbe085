// The matrix as a solver sees it.
#pragma once
#include <map>
#include <utility>

#include "sparse/parallel/row_partition.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

class Team;

/// Of an operator whose rows several ranks share; null: its rows are all there are.
struct RowShare {
  Team* team = nullptr;
  const RowPartition* partition = nullptr;
};

/// A linear operator.
template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const { return rows(); }
  /// The matrix, for solvers that need its entries; null where none is stored.
  virtual const AnyMatrix<T>* matrix() const { return nullptr; }
  /// Where there is a team, rows() and vectors are those of its rank, dots and norms those of all ranks, and all of
  /// them take part in every product. Solvers then add up over the team, too.
  virtual RowShare share() const { return {}; }
  std::int64_t all_rows() const { return share().partition ? share().partition->rows() : rows(); }
  /// The stored rows with all their entries, in columns of whatever order: for bounds of row sums.
  virtual const AnyMatrix<T>* matrix_rows() const { return matrix(); }
  /// y = op(A) x. x and y are different arrays. An operator without its transpose refuses other ops (require_plain);
  /// solvers that need them say so.
  virtual void apply(Context&, Op, const Array<T>& x, Array<T>& y) const = 0;
  /// The same, and the dots of y: by default after the product, which reads y and the partners once more each. An
  /// operator that can take them in the same pass overrides this, too.
  virtual void apply(Context& ctx, Op op, const Array<T>& x, Array<T>& y, const Dots<T>& dots) const {
    apply(ctx, op, x, y);
    if (dots.first) dot(ctx, *dots.with_first, y, *dots.first);
    if (dots.second) dot(ctx, *dots.with_second, y, *dots.second);
  }
  /// r = b - A x, of different arrays: by default after the product, which reads b and r once more.
  virtual void residual(Context& ctx, const Array<T>& x, const Array<T>& b, Array<T>& r) const {
    apply(ctx, Op::none, x, r);
    axpby(ctx, 1.0, b, -1.0, r);
  }
  /// The same, and a step that rows take at once (RecurrenceStep), for operators that take them.
  virtual void take_step(Context&, const Array<T>&, const Array<T>&, Array<T>&, const RecurrenceStep<T>&,
                         const Dots<T>&) const {
    throw InvalidArgument("operator: it takes no steps with residuals");
  }
  virtual bool takes_steps(Context&) const { return false; }
  /// ||A||_F, for the baseline backward_error. An operator that does not know it raises InvalidArgument.
  virtual double frobenius_norm(Context&) const {
    throw InvalidArgument(
        "operator: stop.baseline backward_error needs ||A||_F; override frobenius_norm, or take another baseline");
  }
  /// y = A x.
  void apply(Context& ctx, const Array<T>& x, Array<T>& y, const Dots<T>& dots = {}) const {
    apply(ctx, Op::none, x, y, dots);
  }
};

/// For operators without their transpose. Raises InvalidArgument unless op is Op::none.
inline void require_plain(Op op) {
  if (op != Op::none) throw InvalidArgument("operator: it has no products with its transpose or adjoint");
}

/// The operator of a stored matrix, which must outlive it. Products go through an SpmvPlan, which the first product or
/// prepare() makes: one for each context and op, kept as long as the operator. A plan for the transpose or adjoint
/// keeps a transposed copy where the format needs one.
template <class T>
class MatrixOperator final : public Operator<T> {
 public:
  explicit MatrixOperator(const AnyMatrix<T>& A, SpmvMethod method = SpmvMethod::in_place);
  explicit MatrixOperator(const AnyMatrix<T>&&, SpmvMethod = SpmvMethod::in_place) = delete;  // it would not outlive it
  /// On that context as SpmvPlan does it with the plan of a matrix in another precision.
  MatrixOperator(Context&, const AnyMatrix<T>& A, const SpmvPlan<wide_t<T>>& like, double scale);
  std::int64_t rows() const override { return krill::rows(A_); }
  std::int64_t cols() const override { return krill::cols(A_); }
  const AnyMatrix<T>* matrix() const override { return &A_; }
  using Operator<T>::apply;
  void apply(Context& ctx, Op op, const Array<T>& x, Array<T>& y) const override { apply(ctx, op, x, y, {}); }
  void apply(Context&, Op, const Array<T>& x, Array<T>& y, const Dots<T>&) const override;
  void residual(Context&, const Array<T>& x, const Array<T>& b, Array<T>& r) const override;
  void take_step(Context&, const Array<T>& x, const Array<T>& b, Array<T>& r, const RecurrenceStep<T>&,
                 const Dots<T>&) const override;
  bool takes_steps(Context& ctx) const override { return prepare(ctx).takes_steps(); }
  /// Of the stored entries, on the backend, without a scaling: entries beyond 1e154 overflow. Waits.
  double frobenius_norm(Context&) const override;
  /// The plan of that context.
  const SpmvPlan<T>& prepare(Context&, Op = Op::none) const;
  /// The matrix has new values: without this call, formats whose plan keeps a copy go on with the old ones. Solvers
  /// that have captured products of such a plan have to be made anew.
  void update(Context&);

 private:
  const AnyMatrix<T>& A_;
  SpmvMethod method_;
  // Never removed: captured graphs point into them.
  mutable std::map<std::pair<std::uint64_t, Op>, SpmvPlan<T>> plans_;
};

}  // namespace krill
