#include "krill/sparse/spmv/mixed.hpp"

namespace krill {

template <class Matrix, class Vector, class Result, class Types>
void spmv_mixed(Context& ctx, Op op, const Scalar<typename Types::Compute>& alpha, const Matrix& A,
                const Array<Vector>& x, const Scalar<typename Types::Compute>& beta, Array<Result>& y) {
  require_size("spmv_mixed: x", x.size(), A.cols(op));
  require_size("spmv_mixed: y", y.size(), A.rows(op));
  require_disjoint("spmv_mixed: x and y", x, y);
  ctx.dispatch([&](const auto& where) {
    const auto a = A.view(where);
    run_product(where, op,
                MixedProduct<Types, std::remove_const_t<decltype(a)>>{alpha.read(where), a, x.read(where),
                                                                      beta.read(where), y.output(where, beta)});
  });
}

}  // namespace krill

#define INSTANTIATE(Types)                                                                                        \
  template void spmv_mixed(Context&, Op, const Scalar<Types::Compute>&, const Csr<Types::Storage, std::int32_t>&, \
                           const Array<Types::Vector>&, const Scalar<Types::Compute>&, Array<Types::Result>&);    \
  template void spmv_mixed(Context&, Op, const Scalar<Types::Compute>&, const Csr<Types::Storage, std::int64_t>&, \
                           const Array<Types::Vector>&, const Scalar<Types::Compute>&, Array<Types::Result>&);    \
  template void spmv_mixed(Context&, Op, const Scalar<Types::Compute>&, const Coo<Types::Storage>&,               \
                           const Array<Types::Vector>&, const Scalar<Types::Compute>&, Array<Types::Result>&);    \
  template void spmv_mixed(Context&, Op, const Scalar<Types::Compute>&, const CooAos<Types::Storage>&,            \
                           const Array<Types::Vector>&, const Scalar<Types::Compute>&, Array<Types::Result>&);
#include "krill/sparse/spmv/mixed_instances.hpp"
#undef INSTANTIATE
