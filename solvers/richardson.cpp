#include "solvers/richardson.hpp"

#include "solvers/richardson_passes.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T>
Richardson<T>::Richardson(const Operator<T>& A, const Preconditioner<T>& M, const RichardsonOptions& options)
    : Krylov<T>(A, M, options.max_iterations, options.stop),
      relaxation_(static_cast<real_t<T>>(options.relaxation)),
      z_(A.rows(), "richardson z"),
      q_(A.rows(), "richardson q") {}

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

template <class T>
HeldMemory Richardson<T>::memory(MemoryLedger& ledger, std::int64_t size, const RichardsonOptions& o,
                                 bool preconditioned) {
  return Krylov<T>::memory(ledger, size, o.max_iterations, vectors - (preconditioned ? 0 : 1));
}

KRILL_INSTANTIATE(Richardson);

}  // namespace krill
