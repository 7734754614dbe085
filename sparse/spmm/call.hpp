// What the doors of products with a dense matrix share: checks, and the pointers that kernels get.
#pragma once
#include <string>

#include "sparse/spmm/spmm.hpp"

namespace krill::detail {

/// Whether matrices that a caller lends share memory. Where their lines do not have the same pitch, gaps between lines
/// count as well.
template <class A, class B>
bool overlap(const DenseView<A>& a, const DenseView<B>& b) {
  struct Lines {
    std::int64_t begin, length, pitch, end;
  };
  const auto lines = []<class T>(const DenseView<T>& m) {
    constexpr std::int64_t bytes = sizeof(T);
    const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(m.values));
    const std::int64_t count = m.order == Order::column_major ? m.cols : m.rows;
    const std::int64_t length = m.line_length() * bytes, pitch = m.leading_dimension * bytes;
    return Lines{begin, length, pitch, begin + (count - 1) * pitch + length};
  };
  if (a.rows == 0 || a.cols == 0 || b.rows == 0 || b.cols == 0) return false;
  const Lines one = lines(a), other = lines(b);
  if (one.begin >= other.end || other.begin >= one.end) return false;
  if (one.pitch != other.pitch) return true;
  const std::int64_t shift = (other.begin - one.begin) % one.pitch, at = shift < 0 ? shift + one.pitch : shift;
  return at < one.length || at + other.length > one.pitch;
}

/// Raises InvalidArgument where a result shares memory with what it is made of.
template <class A, class B>
void require_apart(const std::string& what, const DenseView<A>& from, const DenseView<B>& to) {
  require(!overlap(from, to), what + " must not overlap in memory");
}

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
    require_apart(door + ": B and C", from, to);
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
template <class View>
Product<View> as_spmv(const RowProducts<View>& p) {
  return {p.alpha, p.a, p.b.values, p.beta, p.c.values, {}};
}

}  // namespace krill::detail
