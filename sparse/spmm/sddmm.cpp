#include "sparse/spmm/sddmm.hpp"

#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T, class Offset>
void sddmm(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<Scalar<dot_scalar_t<T>>>& alpha,
           const Dense<T>& A, const Dense<T>& B, const std::type_identity_t<Scalar<dot_scalar_t<T>>>& beta,
           Csr<T, Offset>& C) {
  const bool turned_a = op_a != Op::none, turned_b = op_b != Op::none;
  require_size("sddmm: rows of op(A)", turned_a ? A.cols() : A.rows(), C.rows());
  require_size("sddmm: columns of op(B)", turned_b ? B.rows() : B.cols(), C.cols());
  require_size("sddmm: rows of op(B)", turned_b ? B.cols() : B.rows(), turned_a ? A.rows() : A.cols());
  require_disjoint("sddmm: A and C", A.values(), C.values());
  require_disjoint("sddmm: B and C", B.values(), C.values());
  ctx.dispatch([&](const auto& where) {
    const auto first = alpha.read(where), second = beta.read(where);
    const auto a = turned_a ? A.view(where).transposed() : A.view(where);
    const auto b = turned_b ? B.view(where).transposed() : B.view(where);
    const Offset* offsets = C.row_offsets().read(where);
    const std::int32_t* columns = C.col_indices().read(where);
    const EntryDots<kernel_t<T>, Offset> dots{
        first,   a,       b,       op_a == Op::adjoint,           op_b == Op::adjoint, second, C.rows(),
        C.nnz(), offsets, columns, C.values().output(where, beta)};
    if (dots.nnz > 0) run_entry_dots(where, dots);
  });
}

template <class T, class Offset>
struct SddmmInstances {
  using Factor = const Scalar<dot_scalar_t<T>>&;
  static constexpr auto list =
      instance<void(Context&, Op, Op, Factor, const Dense<T>&, const Dense<T>&, Factor, Csr<T, Offset>&)>(sddmm);
};
KRILL_INSTANTIATE_WITH_OFFSETS(SddmmInstances);
template struct SddmmInstances<Half, std::int32_t>;
template struct SddmmInstances<BFloat16, std::int32_t>;
template struct SddmmInstances<Complex<Half>, std::int32_t>;

}  // namespace krill
