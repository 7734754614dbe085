#include "krill/sparse/spmv/spmv.hpp"

#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {
namespace {

template <class Matrix, class T>
void require_shapes(Op op, const Matrix& A, const Array<T>& x, const Array<T>& y, const Dots<T>& dots) {
  require_size("spmv: x", x.size(), A.cols(op));
  require_size("spmv: y", y.size(), A.rows(op));
  require_disjoint("spmv: x and y", x, y);
  const auto require_dot = [&](const Array<T>* with, const Array<wide_t<T>>* result) {
    require((with == nullptr) == (result == nullptr),
            "spmv: a dot product needs both a partner and room for the result");
    if (!with) return;
    require_size("spmv: the partner of a dot product", with->size(), y.size());
    require_size("spmv: the result of a dot product", result->size(), 1);
  };
  require_dot(dots.with_first, dots.first);
  require_dot(dots.with_second, dots.second);
}

/// Partners are read before y is handed out for writing; a partner that is y itself is known by its address.
template <class T, class Where>
DotsView<kernel_t<T>> view(const Dots<T>& dots, const Where& where, const Array<T>& y) {
  const auto partner = [&](const Array<T>* with) { return with && with != &y ? with->read(where) : nullptr; };
  return {partner(dots.with_first), dots.first ? dots.first->write(where) : nullptr, partner(dots.with_second),
          dots.second ? dots.second->write(where) : nullptr};
}

/// The part of a product that does not depend on the format. `a` is on the tag's side and already op(A).
template <class T, class Offset, class Where>
void multiply(const Where& where, const CsrView<const kernel_t<T>, Offset>& a, const Scalar<T>& alpha,
              const Array<T>& x, const Scalar<T>& beta, Array<T>& y, const Dots<T>& dots) {
  CsrProduct<kernel_t<T>, Offset> product{alpha.read(where), a,       x.read(where),
                                          beta.read(where),  nullptr, view(dots, where, y)};
  product.y = y.output(where, beta);
  if (dots.with_first == &y) product.dots.with_first = product.y;
  if (dots.with_second == &y) product.dots.with_second = product.y;
  csr_spmv(where, product);
}

/// op(a) in the frame's memory; a itself where op is none.
template <class T, class Offset, class Where>
CsrView<const T, Offset> with_op(const Where& where, Frame& frame, Op op, const CsrView<const T, Offset>& a) {
  if (op == Op::none) return a;
  const auto nnz = static_cast<std::size_t>(a.nnz);
  const CsrView<T, Offset> out{a.cols,
                               a.rows,
                               a.nnz,
                               frame.take<Offset>(static_cast<std::size_t>(a.cols) + 1),
                               frame.take<std::int32_t>(nnz),
                               frame.take<T>(nnz)};
  csr_transpose(where, a, op == Op::adjoint, out, static_cast<Offset*>(nullptr));
  return out.as_const();
}

}  // namespace

template <class T, class Offset>
void spmv(Context& ctx, Op op, const std::type_identity_t<Scalar<T>>& alpha, const Csr<T, Offset>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& dots) {
  require_shapes(op, A, x, y, dots);
  ctx.dispatch([&](const auto& where) {
    Frame frame(where);
    multiply<T, Offset>(where, with_op(where, frame, op, A.view(where)), alpha, x, beta, y, dots);
  });
}

template <class T>
void spmv(Context& ctx, Op op, const std::type_identity_t<Scalar<T>>& alpha, const Coo<T>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& dots) {
  require_shapes(op, A, x, y, dots);
  ctx.dispatch([&](const auto& where) {
    Frame frame(where);
    auto* row_offsets = frame.take<std::int64_t>(static_cast<std::size_t>(A.rows()) + 1);
    const CooView<const kernel_t<T>> a = A.view(where);
    compress_rows(where, a.rows, a.nnz, a.row_indices, row_offsets);
    const CsrView<const kernel_t<T>, std::int64_t> csr{a.rows, a.cols, a.nnz, row_offsets, a.col_indices, a.values};
    multiply<T, std::int64_t>(where, with_op(where, frame, op, csr), alpha, x, beta, y, dots);
  });
}

template <class T>
void spmv(Context& ctx, Op op, const std::type_identity_t<Scalar<T>>& alpha, const AnyMatrix<T>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& dots) {
  std::visit([&](const auto& a) { spmv(ctx, op, alpha, a, x, beta, y, dots); }, A);
}

#define INSTANTIATE(T, Offset)                                                                                 \
  template void spmv(Context&, Op, const Scalar<T>&, const Csr<T, Offset>&, const Array<T>&, const Scalar<T>&, \
                     Array<T>&, const Dots<T>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                                            \
  template void spmv(Context&, Op, const Scalar<T>&, const Coo<T>&, const Array<T>&, const Scalar<T>&, Array<T>&, \
                     const Dots<T>&);                                                                             \
  template void spmv(Context&, Op, const Scalar<T>&, const AnyMatrix<T>&, const Array<T>&, const Scalar<T>&,      \
                     Array<T>&, const Dots<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
