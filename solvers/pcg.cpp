#include "solvers/pcg.hpp"

#include "solvers/pcg_passes.hpp"
#include "solvers/persistent.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;

template <class T>
Pcg<T>::Pcg(const Operator<T>& A, const Preconditioner<T>& M, const PcgOptions& options)
    : Krylov<T>(A, M, options.max_iterations, options.stop),
      z_(A.rows(), "pcg z"),
      p_(A.rows(), "pcg p"),
      q_(A.rows(), "pcg q"),
      rho_(1, "pcg rho"),
      rho_old_(1, "pcg old rho"),
      pq_(1, "pcg p'q") {}

template <class T>
void Pcg<T>::start(Context& ctx) {
  fill(ctx, 0.0, rho_old_);  // the first direction is z alone
}

template <class T>
void Pcg<T>::iterate_once(Context& ctx) {
  const auto [z, rho] = M_.apply_dot(ctx, r_, rr_, z_, rho_);  // z = M r, rho = r'z
  direction(ctx, rho, z);                                      // p = z + beta p
  A_.apply(ctx, p_, q_, {&p_, &pq_});                          // q = A p, p'q in the same pass
  update(ctx, rho);                                            // x += alpha p, r -= alpha q, r'r; counts and decides
}

template <class T>
Body Pcg<T>::whole(Context& ctx) {
  return ctx.dispatch([&](const auto& where) {
    return persistent_loop(where, A_.matrix(), M_, PcgArrays<T>{x_, r_, z_, p_, q_, rr_}, progress_);
  });
}

template <class T>
void Pcg<T>::direction(Context& ctx, const Array<double>& rho, const Array<T>& z) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, z.size(),
             PcgDirection<kernel_t<T>>{rho.read(where), rho_old_.read(where), z.read(where), p_.update(where)});
  });
}

template <class T>
void Pcg<T>::update(Context& ctx, const Array<double>& rho) {
  ctx.dispatch([&](const auto& where) {
    run_pass(
        where, x_.size(),
        PcgUpdate<kernel_t<T>>{rho.read(where), pq_.read(where), p_.read(where), q_.read(where), x_.update(where),
                               r_.update(where), rr_.update(where), rho_old_.update(where), progress_.update(where)});
  });
}

template <class T>
HeldMemory Pcg<T>::memory(MemoryLedger& ledger, std::int64_t size, const PcgOptions& o, bool preconditioned) {
  return Krylov<T>::memory(ledger, size, o.max_iterations, vectors - (preconditioned ? 0 : 1));
}

KRILL_INSTANTIATE(Pcg);

}  // namespace krill
