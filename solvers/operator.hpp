// The matrix as a solver sees it.
#pragma once
#include <map>

#include "krill/sparse/spmv/plan.hpp"

namespace krill {

/// A square linear operator.
template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t size() const = 0;
  /// y = A x, and the dots in the same pass where the format can. x and y are different arrays.
  virtual void apply(Context&, const Array<T>& x, Array<T>& y, const Dots<T>& = {}) const = 0;
};

/// The operator of a stored matrix, which must outlive it. Products go through an SpmvPlan that the first one makes, or
/// prepare() before; each context has one of its own, which stays as long as the operator. Raises ShapeMismatch where
/// the matrix is not square.
template <class T>
class MatrixOperator final : public Operator<T> {
 public:
  explicit MatrixOperator(const AnyMatrix<T>& A, SpmvMethod method = SpmvMethod::in_place);
  explicit MatrixOperator(const AnyMatrix<T>&&, SpmvMethod = SpmvMethod::in_place) = delete;  // it would not outlive it
  std::int64_t size() const override { return rows(A_); }
  void apply(Context&, const Array<T>& x, Array<T>& y, const Dots<T>& = {}) const override;
  /// The plan of that context.
  const SpmvPlan<T>& prepare(Context& ctx) const { return plan(ctx); }
  /// The matrix has new values: without this call, formats whose plan keeps a copy go on with the old ones. Solvers
  /// that have captured products of such a plan have to be made anew.
  void update(Context& ctx) { plan(ctx).update(ctx); }

 private:
  SpmvPlan<T>& plan(Context&) const;

  const AnyMatrix<T>& A_;
  SpmvMethod method_;
  mutable std::map<std::uint64_t, SpmvPlan<T>> plans_;  // captured graphs hold pointers into them: none goes
};

}  // namespace krill
