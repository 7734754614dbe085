#include "sparse/spmv/spmv.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/as_csr.hpp"
#include "sparse/spmv/call.hpp"

namespace krill {

using namespace detail;
namespace {

/// y = op(A) x by way of CSR.
template <class Where, class T, class View>
void multiply_as_csr(const Where& where, Op op, const View& a, std::int64_t places, const SpmvCall<T>& call) {
  Frame frame(where);
  const auto csr = csr_of(where, frame, a, places);
  if (op == Op::none) return run_product(where, call.product(where, csr));
  run_product(where, call.product(where, transposed_in(where, frame, op, csr)));
}

/// The same for a matrix that is stored as its transpose.
template <class Where, class T, class View>
void multiply_columns(const Where& where, Op op, const View& transposed, std::int64_t places, const SpmvCall<T>& call) {
  if (op == Op::transpose) return run_product(where, call.product(where, transposed));
  Frame frame(where);
  const auto csr = csr_of(where, frame, transposed, places);
  if (op == Op::none)
    run_product(where, call.product(where, transposed_in(where, frame, Op::transpose, csr)));
  else
    run_product(where, call.product(where, conjugate_in(where, frame, csr)));
}

/// y = op(A) x where A's format has no kernel for that op.
template <class Where, class T, class Matrix>
void multiply_otherwise(const Where& where, Op op, const Matrix& A, const SpmvCall<T>& call) {
  if constexpr (std::is_same_v<Where, Host>)
    if (where.skip.now()) return;  // the first steps would be skipped, and later ones would read what they left out
  if constexpr (std::is_same_v<Matrix, Csc<T>> || std::is_same_v<Matrix, Gebsc<T>>)
    multiply_columns(where, op, A.transposed().view(where), A.nnz(), call);
  else
    multiply_as_csr(where, op, A.view(where), places_of(A), call);
}

}  // namespace

template <class Matrix>
void spmv(Context& ctx, Op op, const Scalar<value_t<Matrix>>& alpha, const Matrix& A, const Array<value_t<Matrix>>& x,
          const Scalar<value_t<Matrix>>& beta, Array<value_t<Matrix>>& y, const Dots<value_t<Matrix>>& dots) {
  const SpmvCall<value_t<Matrix>> call{alpha, x, beta, y, dots};
  call.check(A.rows(op), A.cols(op));
  ctx.dispatch([&](const auto& where) {
    if constexpr (has_kernel<Matrix>)
      if (op == Op::none) return run_product(where, call.product(where, A.view(where)));
    multiply_otherwise(where, op, A, call);
  });
}

template <class T>
void spmv(Context& ctx, Op op, const std::type_identity_t<Scalar<T>>& alpha, const AnyMatrix<T>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& dots) {
  std::visit([&](const auto& a) { spmv(ctx, op, alpha, a, x, beta, y, dots); }, A);
}

template <class Matrix>
void residual(Context& ctx, const Matrix& A, const Array<value_t<Matrix>>& x, const Array<value_t<Matrix>>& b,
              Array<value_t<Matrix>>& r, const Dots<value_t<Matrix>>& dots) {
  const Scalar<value_t<Matrix>> minus_one(-1), one(1);
  const SpmvCall<value_t<Matrix>> call{minus_one, x, one, r, dots, &b};
  call.check(A.rows(), A.cols());
  ctx.dispatch([&](const auto& where) {
    if constexpr (has_kernel<Matrix>)
      run_product(where, call.product(where, A.view(where)));
    else
      multiply_otherwise(where, Op::none, A, call);
  });
}

template <class T>
void residual(Context& ctx, const AnyMatrix<T>& A, const Array<T>& x, const Array<T>& b, Array<T>& r,
              const std::type_identity_t<Dots<T>>& dots) {
  std::visit([&](const auto& a) { residual(ctx, a, x, b, r, dots); }, A);
}

template <class T>
void spmv_masked(Context& ctx, const std::type_identity_t<Scalar<T>>& alpha, const Bsrx<T>& A,
                 const Array<std::int32_t>& mask, const Array<T>& x, const std::type_identity_t<Scalar<T>>& beta,
                 Array<T>& y) {
  const Dots<T> no_dots;
  const SpmvCall<T> call{alpha, x, beta, y, no_dots};
  call.check(A.rows(), A.cols());
  require_size("spmv_masked: mask, at most, which", std::max<std::int64_t>(mask.size(), A.block_rows()),
               A.block_rows());
  if (mask.size() == 0) return;
  ctx.dispatch([&](const auto& where) {
    // rows outside of the mask keep their y, whatever beta is
    kernel_t<T>* kept = y.update(where);
    auto product = call.product(where, A.view(where));
    product.y = kept;
    product.mask = mask.read(where), product.mask_size = static_cast<std::int32_t>(mask.size());
    run_product(where, product);
  });
}

template <class Matrix, class T>
struct ProductInstances {
  static constexpr std::tuple list{
      instance<void(Context&, Op, const Scalar<T>&, const Matrix&, const Array<T>&, const Scalar<T>&, Array<T>&,
                    const Dots<T>&)>(spmv),
      instance<void(Context&, const Matrix&, const Array<T>&, const Array<T>&, Array<T>&, const Dots<T>&)>(residual)};
};
template <class T, class... Matrix>
constexpr std::tuple<decltype(ProductInstances<Matrix, T>::list)...> products(
    std::type_identity<std::variant<Matrix...>>) {
  return {ProductInstances<Matrix, T>::list...};
}

template <class T>
struct SpmvInstances {
  static constexpr auto of_each = products<T>(std::type_identity<AnyMatrix<T>>());
  static constexpr auto of_any = ProductInstances<AnyMatrix<T>, T>::list;
  static constexpr auto masked = instance<void(Context&, const Scalar<T>&, const Bsrx<T>&, const Array<std::int32_t>&,
                                               const Array<T>&, const Scalar<T>&, Array<T>&)>(spmv_masked);
};
KRILL_INSTANTIATE(SpmvInstances);

}  // namespace krill
