#include "krill/solvers/richardson.hpp"

#include "krill/solvers/richardson_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

template <class T>
Richardson<T>::Richardson(const Operator<T>& A, const Preconditioner<T>& M, const RichardsonOptions& options)
    : Krylov<T>(A, M, options.max_iterations, options.stop),
      relaxation_(static_cast<real_t<T>>(options.relaxation)),
      z_(A.size(), "richardson z"),
      q_(A.size(), "richardson q") {}

template <class T>
void Richardson<T>::iterate_once(Context& ctx) {
  const Array<T>& z = M_.apply(ctx, r_, z_);  // z = M r
  A_.apply(ctx, z, q_);                       // q = A z
  ctx.dispatch([&](const auto& where) {       // x += w z, r -= w q, r'r; counts and decides
    const auto *from = z.read(where), *product = q_.read(where);
    run_pass(where, x_.size(),
             RichardsonUpdate<kernel_t<T>>{relaxation_, from, product, x_.update(where), r_.update(where),
                                           rr_.update(where), progress_.update(where)});
  });
}

#define INSTANTIATE(T) template class Richardson<T>;
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
