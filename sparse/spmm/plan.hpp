// A product with dense matrices that is wanted often: what it needs is found and made once.
#pragma once
#include <memory>

#include "sparse/spmm/spmm.hpp"
#include "sparse/spmv/plan.hpp"

namespace krill {

/// C = alpha op(A) op(B) + beta C, for many B. A must outlive the plan and keep its pattern.
///
/// in_place: CSR, and CSC transposed, are multiplied with their own arrays; of other formats and ops the plan keeps
/// op(A) in CSR. On CUDA it knows the tiles, which spmm finds anew each time (1 to 3 % of A's memory). With CSR
/// and CSC the results are spmm's, bit by bit.
///
/// automatic: A in CSR, op none, may be multiplied in another form, as an SpmvPlan's may, if that moves clearly fewer
/// bytes, those of B and C counted, and is not slower when both are timed, with B and C of that many columns in
/// column-major order. Costs a few products, a few waits, and the memory of the copy.
///
/// Products are asynchronous, capturable after a first run, and allocate nothing but workspace. One product at a time:
/// a plan serves one stream.
template <class T>
class SpmmPlan {
 public:
  /// For B of that many columns; one column is a product with a vector. With other numbers of columns products are
  /// right as well, and tiles are found as spmm does. Waits. Raises InvalidArgument where columns < 1.
  SpmmPlan(Context&, const AnyMatrix<T>& A, Op op, std::int64_t columns, SpmvMethod = SpmvMethod::in_place);
  SpmmPlan(Context&, const AnyMatrix<T>&& A, Op op, std::int64_t columns,
           SpmvMethod = SpmvMethod::in_place) = delete;  // A has to stay
  SpmmPlan(SpmmPlan&&) noexcept;
  SpmmPlan& operator=(SpmmPlan&&) noexcept;
  ~SpmmPlan();

  std::int32_t rows() const;  ///< of op(A)
  std::int32_t cols() const;
  /// What multiplies, and why; times are of products with all columns.
  const SpmvReport& report() const;
  /// What the plan keeps beside A.
  std::size_t bytes() const;

  /// A has new values. O(nnz); nothing where the plan multiplies with A's own arrays. Graphs that captured products
  /// with formats other than CSR and CSC, or with another form, have to be captured anew.
  void update(Context&);

  /// C = alpha op(A) op_b(B) + beta C. Raises as spmm does.
  void apply(Context&, Op op_b, const Scalar<T>& alpha, const Dense<T>& B, const Scalar<T>& beta, Dense<T>& C) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace krill
