#include "sparse/spmm/spmm.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/as_csr.hpp"
#include "sparse/spmv/product.hpp"

namespace krill {

using namespace detail;
namespace {

/// A column whose entries lie side by side.
template <class T>
bool is_vector(const DenseView<T>& view) {
  return view.cols == 1 && (view.order == Order::column_major || view.leading_dimension == 1);
}

template <class Where, class T, class Offset>
void run(const Where& where, const ManyProducts<T, Offset>& p) {
  if (is_vector(p.b) && is_vector(p.c) && !p.conjugate_b)
    return run_product(where, Product<CsrView<const T, Offset>>{p.alpha, p.a, p.b.values, p.beta, p.c.values, {}});
  run_products(where, p);
}

/// C = alpha op_a(A) B + beta C, where B and C are views of one side.
template <class Where, class Matrix, class T>
void multiply(const Where& where, Op op_a, const ScalarView<T>& alpha, const Matrix& A, const DenseView<const T>& b,
              bool conjugate_b, const ScalarView<T>& beta, const DenseView<T>& c) {
  if constexpr (std::is_same_v<Where, Host>)
    if (where.skip.now()) return;  // the first steps would be skipped, and later ones would read what they left out
  with_csr(where, op_a, A, [&]<class Offset>(const CsrView<const T, Offset>& csr) {
    run(where, ManyProducts<T, Offset>{alpha, csr, b, conjugate_b, beta, c});
  });
}

}  // namespace

template <class Matrix>
void spmm(Context& ctx, Op op_a, Op op_b, const Scalar<value_t<Matrix>>& alpha, const Matrix& A,
          const Dense<value_t<Matrix>>& B, const Scalar<value_t<Matrix>>& beta, Dense<value_t<Matrix>>& C) {
  const bool turned = op_b != Op::none;
  require_size("spmm: rows of op(B)", turned ? B.cols() : B.rows(), A.cols(op_a));
  require_size("spmm: rows of C", C.rows(), A.rows(op_a));
  require_size("spmm: columns of C", C.cols(), turned ? B.rows() : B.cols());
  require_disjoint("spmm: B and C", B.values(), C.values());
  ctx.dispatch([&](const auto& where) {
    const auto a = alpha.read(where), b = beta.read(where);
    const auto from = turned ? B.view(where).transposed() : B.view(where);
    const auto to = C.output(where, beta);
    if (to.rows > 0 && to.cols > 0) multiply(where, op_a, a, A, from, op_b == Op::adjoint, b, to);
  });
}

template <class T>
void spmm(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const AnyMatrix<T>& A,
          const Dense<T>& B, const std::type_identity_t<Scalar<T>>& beta, Dense<T>& C) {
  std::visit([&](const auto& a) { spmm(ctx, op_a, op_b, alpha, a, B, beta, C); }, A);
}

template <class Matrix>
void dense_times_sparse(Context& ctx, const Scalar<value_t<Matrix>>& alpha, const Dense<value_t<Matrix>>& A,
                        const Matrix& B, const Scalar<value_t<Matrix>>& beta, Dense<value_t<Matrix>>& C) {
  require_size("dense_times_sparse: columns of A", A.cols(), B.rows());
  require_size("dense_times_sparse: rows of C", C.rows(), A.rows());
  require_size("dense_times_sparse: columns of C", C.cols(), B.cols());
  require_disjoint("dense_times_sparse: A and C", A.values(), C.values());
  ctx.dispatch([&](const auto& where) {
    const auto first = alpha.read(where), second = beta.read(where);
    const auto from = A.view(where).transposed();
    const auto to = C.output(where, beta).transposed();
    if (to.rows > 0 && to.cols > 0) multiply(where, Op::transpose, first, B, from, false, second, to);
  });
}

template <class Matrix, class T>
struct SpmmInstances {
  static constexpr std::tuple list{
      instance<void(Context&, Op, Op, const Scalar<T>&, const Matrix&, const Dense<T>&, const Scalar<T>&, Dense<T>&)>(
          spmm),
      instance<void(Context&, const Scalar<T>&, const Dense<T>&, const Matrix&, const Scalar<T>&, Dense<T>&)>(
          dense_times_sparse)};
};
template <class T, class... Matrix>
constexpr std::tuple<decltype(SpmmInstances<Matrix, T>::list)...> instances_of_each(
    std::type_identity<std::variant<Matrix...>>) {
  return {SpmmInstances<Matrix, T>::list...};
}

template <class T>
struct AllSpmmInstances {
  static constexpr auto of_each = instances_of_each<T>(std::type_identity<AnyMatrix<T>>());
  static constexpr auto of_any = instance<void(Context&, Op, Op, const Scalar<T>&, const AnyMatrix<T>&, const Dense<T>&,
                                               const Scalar<T>&, Dense<T>&)>(spmm);
};
KRILL_INSTANTIATE(AllSpmmInstances);

}  // namespace krill
