#include "sparse/spmm/spmm.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/blocks.hpp"
#include "sparse/spmm/call.hpp"
#include "sparse/spmv/as_csr.hpp"
#include "sparse/spmv/product.hpp"

namespace krill {

using namespace detail;
namespace {

// C = alpha A B + beta C for more than a vector, by the kernels of a view; A has about so many entries.
template <class Where, class T, class View>
void run_view(const Where& where, const DenseOperands<T>& dense, const View& a, std::int64_t entries) {
  run_products(where, RowProducts<View>{dense, a}, entries);
}
template <class Where, class T, class Offset>
void run_view(const Where& where, const DenseOperands<T>& dense, const CsrView<const T, Offset>& a, std::int64_t) {
  run_products(where, ManyProducts<T, Offset>{{dense, a}});
}
template <class Where, class T>
void run_view(const Where& where, const DenseOperands<T>& dense, const CooView<const T>& a, std::int64_t) {
  Frame frame(where);
  run_view(where, dense, csr_of(where, frame, a, a.nnz), a.nnz);
}
template <class Where, class T>
void run_view(const Where& where, const DenseOperands<T>& dense, const HybView<const T>& a, std::int64_t entries) {
  run_view(where, dense, a.ell, entries - a.coo.nnz);
  if (a.coo.nnz == 0) return;
  DenseOperands<T> rest = dense;
  rest.beta = {T(1)};
  run_view(where, rest, a.coo, a.coo.nnz);
}
template <class Where, class T>
void run_view(const Where& where, const DenseOperands<T>& dense, const BsrView<const T>& a, std::int64_t) {
  run_blocks(where, BlockProducts<OneType<T>>{dense, any_blocks(a)}, TensorCores::none);
}
template <class Where, class T>
void run_view(const Where& where, const DenseOperands<T>& dense, const BlockedEllView<const T>& a, std::int64_t) {
  run_blocks(where, BlockProducts<OneType<T>>{dense, any_blocks(a)}, TensorCores::none);
}

/// C = alpha A B + beta C.
template <class Where, class T, class View>
void multiply_view(const Where& where, const DenseOperands<T>& dense, const View& a, std::int64_t entries) {
  is_spmv(dense) ? run_product(where, as_spmv(RowProducts<View>{dense, a})) : run_view(where, dense, a, entries);
}

/// C = alpha op_a(A) B + beta C.
template <class Where, class Matrix, class T>
void multiply(const Where& where, Op op_a, const Matrix& A, const DenseOperands<T>& dense) {
  if constexpr (std::is_same_v<Where, Host>)
    if (where.skip.now()) return;  // the first steps would be skipped, and later ones would read what they left out
  if constexpr (requires { A.transposed(); }) {
    if (op_a == Op::transpose) return multiply_view(where, dense, A.transposed().view(where), A.nnz());
  } else {
    if (op_a == Op::none) return multiply_view(where, dense, A.view(where), A.nnz());
  }
  with_op_in_csr(where, op_a, A, [&](const auto& csr) { multiply_view(where, dense, csr, csr.nnz); });
}

}  // namespace

template <class Matrix>
void spmm(Context& ctx, Op op_a, Op op_b, const Scalar<value_t<Matrix>>& alpha, const Matrix& A,
          const Dense<value_t<Matrix>>& B, const Scalar<value_t<Matrix>>& beta, Dense<value_t<Matrix>>& C) {
  const SpmmCall<value_t<Matrix>> call{alpha, op_b, B, beta, C};
  call.check(A.rows(op_a), A.cols(op_a));
  ctx.dispatch([&](const auto& where) {
    call.with_operands(where, [&](const auto& dense) { multiply(where, op_a, A, dense); });
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
    using Operands = DenseOperands<kernel_t<value_t<Matrix>>>;
    const auto first = alpha.read(where), second = beta.read(where);
    const auto from = A.view(where).transposed();
    const auto to = C.output(where, beta).transposed();
    require_apart("dense_times_sparse: A and C", from, to);
    if (to.rows > 0 && to.cols > 0) multiply(where, Op::transpose, B, Operands{first, from, false, second, to});
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
