#include "solvers/pcg.hpp"

#include "solvers/persistent.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;

template <class T>
Pcg<T>::Pcg(const Operator<T>& A, const Preconditioner<T>& M, const PcgOptions& o)
    : Pcg(A, M, o.method == PcgMethod::classic ? Form::classic : Form::single_reduction, o.max_iterations,
          o.replacement, o.stop) {}

template <class T>
Pcg<T>::Pcg(const Operator<T>& A, const Preconditioner<T>& M, Form form, int max_iterations, int replacement,
            const StopOptions& stop)
    : Krylov<T>(A, M, max_iterations, stop),
      form_(form),
      replacement_(replacement),
      z_(A.rows(), "pcg z"),
      p_(A.rows(), "pcg p"),
      q_(A.rows(), "pcg q"),
      w_(form == Form::single_reduction ? A.rows() : 0, "pcg w"),
      rho_(1, "pcg rho"),
      rho_old_(1, "pcg old rho"),
      pq_(1, "pcg p'q"),
      qz_(1, "pcg q'z"),
      scalars_(1, "pcg scalars") {
  if (form != Form::flexible) require_fixed("pcg", M);
}

template <class T>
void Pcg<T>::start(Context& ctx) {
  fill(ctx, 0.0, rho_old_);  // the first direction is z alone
  if (form_ == Form::single_reduction) restart_single_reduction(ctx, true);
}

template <class T>
void Pcg<T>::iterate_once(Context& ctx) {
  if (form_ == Form::single_reduction) {
    if (replacement_ > 0) replace(ctx);
    for (int i = 0; i < max_steps; ++i) single_reduction(ctx);
    return;
  }
  if (form_ == Form::flexible) {
    flexible_direction(ctx);             // z = M r, p = z - (q'z / p'q) p
    A_.apply(ctx, p_, q_, {&p_, &pq_});  // q = A p, p'q in the same pass
    return update(ctx, rho_);            // as below
  }
  const auto [z, rho] = M_.apply_dot(ctx, r_, rr_, z_, rho_);  // z = M r, rho = r'z
  direction(ctx, rho, z);                                      // p = z + beta p
  A_.apply(ctx, p_, q_, {&p_, &pq_});                          // q = A p, p'q in the same pass
  update(ctx, rho);                                            // x += alpha p, r -= alpha q, r'r; counts and decides
}

template <class T>
Body Pcg<T>::whole(Context& ctx) {
  if (form_ != Form::classic) return {};
  return ctx.dispatch([&](const auto& where) {
    return persistent_loop(where, A_.matrix(), M_, PcgArrays<T>{x_, r_, z_, p_, q_, rr_}, progress_);
  });
}

template <class T>
void Pcg<T>::flexible_direction(Context& ctx) {
  const Array<T>& z = M_.apply(ctx, r_, z_);
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    const double* old = rho_old_.read(where);
    run_pass(where, z.size(),
             FcgDots<K>{r_.read(where), z.read(where), q_.update(where), old, rho_.write(where), qz_.write(where)});
    run_pass(where, z.size(),
             FcgDirection<K>{old, qz_.read(where), pq_.update(where), z.read(where), p_.update(where)});
  });
}

template <class T>
void Pcg<T>::single_reduction(Context& ctx) {
  ctx.dispatch([&](const auto& where) { this->look(where); });
  const auto [z, rho] = M_.apply_dot(ctx, r_, rr_, z_, rho_);  // z = M r, rho = r'z
  A_.apply(ctx, z, w_, {&z, &pq_});                            // w = A z, z'w in the same pass
  ctx.dispatch([&, &u = z, &from = rho](const auto& where) {
    run_pass(where, x_.size(),
             SingleReductionUpdate<kernel_t<T>>{from.read(where), pq_.read(where), u.read(where), w_.read(where),
                                                p_.update(where), q_.update(where), x_.update(where), r_.update(where),
                                                rr_.update(where), scalars_.update(where), replacement_,
                                                progress_.update(where)});
  });
}

/// Where it is due, r = b - A x and q = A p are computed anew; the recurrences go on from there.
template <class T>
void Pcg<T>::replace(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    const Context::SkipScope unless_due(ctx, &scalars_.read(where)->replaces);
    this->residual(ctx);
    A_.apply(ctx, p_, q_);
    restart_single_reduction(ctx, false);
  });
}

template <class T>
void Pcg<T>::restart_single_reduction(Context& ctx, bool anew) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0, SingleReductionStart{scalars_.update(where), progress_.read(where), anew});
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
  const Form form = o.method == PcgMethod::classic ? Form::classic : Form::single_reduction;
  return Krylov<T>::memory(ledger, size, o.max_iterations, vectors_of(form) - (preconditioned ? 0 : 1));
}
template <class T>
HeldMemory Pcg<T>::memory(MemoryLedger& ledger, std::int64_t size, const FcgOptions& o, bool preconditioned) {
  return Krylov<T>::memory(ledger, size, o.max_iterations, vectors_of(Form::flexible) - (preconditioned ? 0 : 1));
}

KRILL_INSTANTIATE(Pcg);

}  // namespace krill
