#include "solvers/bicgstab.hpp"

#include "solvers/persistent.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T>
Bicgstab<T>::Bicgstab(const Operator<T>& A, const Preconditioner<T>& M, const BicgstabOptions& options)
    : Krylov<T>(A, M, options.max_iterations, options.stop),
      shadow_(A.rows(), "bicgstab shadow residual"),
      p_(A.rows(), "bicgstab p"),
      v_(A.rows(), "bicgstab v"),
      t_(A.rows(), "bicgstab t"),
      y_(A.rows(), "bicgstab y"),
      z_(A.rows(), "bicgstab z"),
      shadow_v_(1, "bicgstab r0'v"),
      ts_(1, "bicgstab s't"),
      tt_(1, "bicgstab t't"),
      scalars_(1, "bicgstab scalars") {
  require_fixed("bicgstab", M);
}

template <class T>
void Bicgstab<T>::start(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    run_pass(where, r_.size(), BicgstabStart<K>{r_.read(where), shadow_.write(where)});
    run_pass(where, 0, BicgstabReset<K>{rr_.read(where), scalars_.write(where)});
  });
}

template <class T>
void Bicgstab<T>::iterate_once(Context& ctx) {
  direction(ctx);                             // p = r + beta (p - omega v)
  const Array<T>& y = M_.apply(ctx, p_, y_);  // y = M p
  direction_ = &y;
  A_.apply(ctx, y, v_, {&shadow_, &shadow_v_});  // v = A y, r0'v
  half(ctx);                                     // s = r - alpha v, in the place of r
  const Array<T>& z = M_.apply(ctx, r_, z_);     // z = M s
  A_.apply(ctx, z, t_, {&r_, &ts_, &t_, &tt_});  // t = A z, s't, t't
  update(ctx, y, z);                             // x += alpha y + omega z, r = s - omega t; decides
}

template <class T>
Body Bicgstab<T>::whole(Context& ctx) {
  direction_ = std::holds_alternative<IdentityParts>(M_.parts()) ? &p_ : &y_;
  return ctx.dispatch([&](const auto& where) {
    return persistent_loop(where, A_.matrix(), M_,
                           BicgstabArrays<T>{x_, r_, shadow_, p_, v_, t_, y_, z_, rr_, scalars_}, progress_);
  });
}

template <class T>
void Bicgstab<T>::direction(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, p_.size(),
             BicgstabDirection<kernel_t<T>>{scalars_.read(where), rr_.read(where), r_.read(where), v_.read(where),
                                            p_.update(where), progress_.update(where)});
  });
}

template <class T>
void Bicgstab<T>::half(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r_.size(),
             BicgstabHalf<kernel_t<T>>{shadow_v_.read(where), v_.read(where), r_.update(where), scalars_.update(where),
                                       progress_.update(where)});
  });
}

template <class T>
void Bicgstab<T>::update(Context& ctx, const Array<T>& y, const Array<T>& z) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x_.size(),
             BicgstabUpdate<kernel_t<T>>{ts_.read(where), tt_.read(where), y.read(where), z.read(where), t_.read(where),
                                         shadow_.read(where), x_.update(where), r_.update(where), rr_.write(where),
                                         scalars_.update(where), progress_.update(where)});
  });
}

/// M p is what it was at the half step: whatever came after that was skipped.
template <class T>
void Bicgstab<T>::settle(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x_.size(),
             BicgstabSettle<kernel_t<T>>{scalars_.read(where), progress_.read(where), direction_->read(where),
                                         x_.update(where)});
  });
}

template <class T>
HeldMemory Bicgstab<T>::memory(MemoryLedger& ledger, std::int64_t size, const BicgstabOptions& o, bool preconditioned) {
  return Krylov<T>::memory(ledger, size, o.max_iterations, vectors - (preconditioned ? 0 : 2));
}

KRILL_INSTANTIATE(Bicgstab);

}  // namespace krill
