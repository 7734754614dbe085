// What the doors of products with a dense matrix share: checks, and the pointers that kernels get.
#pragma once
#include <string>

#include "sparse/spmm/spmm.hpp"

namespace krill::detail {

/// The operands of C = alpha op(A) op(B) + beta C, but for A.
template <class T, class Result = T, class Compute = T>
struct SpmmCall {
  const Scalar<Compute>& alpha;
  Op op_b;
  const Dense<T>& B;
  const Scalar<Compute>& beta;
  Dense<Result>& C;
  std::string door = "spmm";

  /// Raises ShapeMismatch and InvalidArgument unless the operands suit op(A).
  void check(std::int64_t rows, std::int64_t cols) const {
    const bool turned = op_b != Op::none;
    require_size(door + ": rows of op(B)", turned ? B.cols() : B.rows(), cols);
    require_size(door + ": rows of C", C.rows(), rows);
    require_size(door + ": columns of C", C.cols(), turned ? B.rows() : B.cols());
    require_disjoint(door + ": B and C", B.values(), C.values());
  }

  /// f(DenseOperands), unless C is empty. Reads before C is handed out for writing.
  template <class Where, class F>
  void with_operands(const Where& where, F&& f) const {
    using Operands = DenseOperands<kernel_t<T>, kernel_t<Result>, kernel_t<Compute>>;
    const auto first = alpha.read(where), second = beta.read(where);
    const auto from = op_b == Op::none ? B.view(where) : B.view(where).transposed();
    const auto to = C.output(where, beta);
    if (to.rows > 0 && to.cols > 0) f(Operands{first, from, op_b == Op::adjoint, second, to});
  }
};

/// A column whose entries lie side by side.
template <class T>
bool is_vector(const DenseView<T>& view) {
  return view.cols == 1 && (view.order == Order::column_major || view.leading_dimension == 1);
}

/// Whether the product is one with a vector.
template <class T>
bool is_spmv(const DenseOperands<T>& d) {
  return is_vector(d.b) && is_vector(d.c) && !d.conjugate_b;
}
template <class T, class Offset>
Product<CsrView<const T, Offset>> as_spmv(const ManyProducts<T, Offset>& p) {
  return {p.alpha, p.a, p.b.values, p.beta, p.c.values, {}};
}

}  // namespace krill::detail
