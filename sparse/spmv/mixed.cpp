#include "sparse/spmv/mixed.hpp"

#include "sparse/core/instantiate.hpp"

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

template <class Table>
struct MixedInstances;
template <class... Types>
struct MixedInstances<std::tuple<Types...>> {
  template <class Row, class Matrix>
  using Door = void(Context&, Op, const Scalar<typename Row::Compute>&, const Matrix&,
                    const Array<typename Row::Vector>&, const Scalar<typename Row::Compute>&,
                    Array<typename Row::Result>&);
  template <class Row>
  using Value = typename Row::Storage;
  static constexpr std::tuple list{instance<Door<Types, Csr<Value<Types>, std::int32_t>>>(spmv_mixed)...,
                                   instance<Door<Types, Csr<Value<Types>, std::int64_t>>>(spmv_mixed)...,
                                   instance<Door<Types, Coo<Value<Types>>>>(spmv_mixed)...,
                                   instance<Door<Types, CooAos<Value<Types>>>>(spmv_mixed)...};
};
template class MixedInstances<MixedTable>;

}  // namespace krill
