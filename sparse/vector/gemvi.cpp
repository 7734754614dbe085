#include "sparse/vector/gemvi.hpp"

#include "sparse/core/instantiate.hpp"

namespace krill {

template <class T>
void gemvi(Context& ctx, Op op, const std::type_identity_t<Scalar<T>>& alpha, const Dense<T>& A,
           const SparseVector<T>& x, const std::type_identity_t<Scalar<T>>& beta, Array<T>& y) {
  require_size("gemvi: x", x.size(), A.cols(op));
  require_size("gemvi: y", y.size(), A.rows(op));
  require_disjoint("gemvi: A and y", A.values(), y);
  require_disjoint("gemvi: x and y", x.values(), y);
  ctx.dispatch([&](const auto& where) {
    run_gemvi(where, op,
              GemviCall<kernel_t<T>>{alpha.read(where), A.view(where), x.view(where), beta.read(where),
                                     y.output(where, beta)});
  });
}

template <class T>
struct GemviInstances {
  static constexpr auto list = instance<void(Context&, Op, const Scalar<T>&, const Dense<T>&, const SparseVector<T>&,
                                             const Scalar<T>&, Array<T>&)>(gemvi);
};
KRILL_INSTANTIATE(GemviInstances);

}  // namespace krill
