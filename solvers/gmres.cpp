#include "solvers/gmres.hpp"

#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {
namespace {

int restart_of(int restart, int max_iterations, std::int64_t size) {
  return static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>({restart, max_iterations, size})));
}

/// How far ||r||^2 may fall in a cycle whose vectors are kept in that precision: to four of its roundings, squared.
/// Beyond, the recurrence would leave the truth behind. Reasoned, not varied.
template <class T>
double max_fall2(BasisPrecision precision) {
  if (precision == BasisPrecision::float64 || (precision == BasisPrecision::float32 && sizeof(real_t<T>) == 4))
    return 0;
  const double rounding = precision == BasisPrecision::float32 ? 0x1p-24 : 0x1p-11;
  return 16 * rounding * rounding;
}

/// What the small problem of a cycle has in numbers: rows of its vectors, of its triangle, and of B or V^H V.
std::int64_t numbers_of(const GmresShape& shape) {
  const std::int64_t m = shape.restart;
  const bool second_triangle = shape.orthogonalization == Orthogonalization::mgs ||
                               (shape.orthogonalization == Orthogonalization::one_reduce && !shape.kept);
  return 5 * (m + 1) + m + (second_triangle ? 2 : 1) * m * m;
}

}  // namespace

using namespace detail;

GmresShape::GmresShape(const GmresOptions& o, std::int64_t size)
    : restart(restart_of(o.restart, o.max_iterations, size)),
      orthogonalization(o.orthogonalization),
      basis_precision(o.basis_precision) {}
GmresShape::GmresShape(const FgmresOptions& o, std::int64_t size)
    : restart(restart_of(o.restart, o.max_iterations, size)),
      orthogonalization(o.orthogonalization),
      basis_precision(o.basis_precision),
      kept(o.kept_precision) {}

template <class T>
Gmres<T>::Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresOptions& o)
    : Gmres(A, M, GmresShape(o, A.all_rows()), o.max_iterations, o.stop) {}

template <class T>
Gmres<T>::Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresShape& shape, int max_iterations,
                const StopOptions& stop)
    : Krylov<T>(A, M, max_iterations, stop),
      shape_(shape),
      basis_(A.rows(), shape.restart, shape.basis_precision, "gmres basis"),
      u_(A.rows(), "gmres u"),
      w_(A.rows(), "gmres w"),
      z_(A.rows(), "gmres z"),
      numbers_(numbers_of(shape), "gmres H"),
      reals_(std::int64_t{3} * shape.restart, "gmres cosines"),
      most_(1, "gmres max |z|"),
      state_(std::vector<State>(1), "gmres state") {
  if (!shape.kept) require_fixed("gmres", M);
  if (shape.kept) kept_.emplace(A.rows(), shape.restart, *shape.kept, "fgmres preconditioned basis");
}

template <class T>
std::size_t Gmres<T>::bytes() const {
  return Krylov<T>::bytes() + basis_.bytes() + (kept_ ? kept_->bytes() : 0);
}

template <class T>
void Gmres<T>::start(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0, GmresStart<kernel_t<T>>{progress_.read(where), state_.update(where)});
  });
}

/// Kernels of f run where that reason of the state is running, whatever the solve's reason is.
template <class T>
template <class F>
void Gmres<T>::where_running(Context& ctx, Reason State::*part, F&& f) {
  ctx.dispatch([&](const auto& where) {
    const Context::SkipScope scope(ctx, &(state_.read(where)->*part));
    f(where);
  });
}

template <class T>
void Gmres<T>::iterate_once(Context& ctx) {
  where_running(ctx, &State::begins, [&](const auto&) { begin_cycle(ctx); });  // u = r / ||r||
  const int bodies = (shape_.restart + max_steps - 1) / max_steps, steps = (shape_.restart + bodies - 1) / bodies;
  where_running(ctx, &State::steps, [&](const auto& where) {
    for (int i = 0; i < steps; ++i) {
      this->look(where);
      step(ctx);
    }
  });
  close_cycle(ctx);  // x += M V y, r = b - A x; decides
}

template <class T>
void Gmres<T>::settle(Context& ctx) {
  ctx.dispatch([&](const auto& where) { run_pass(where, 0, GmresSettle<kernel_t<T>>{state_.update(where)}); });
  close_cycle(ctx);
}

template <class T>
void Gmres<T>::begin_cycle(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r_.size(),
             GmresBegin<kernel_t<T>>{rr_.read(where), r_.read(where), u_.write(where), arnoldi(where)});
  });
}

template <class T>
void Gmres<T>::step(Context& ctx) {
  const Array<T>& z = M_.apply(ctx, u_, z_);
  if (kept_) keep(ctx, z);
  A_.apply(ctx, z, w_);   // w = A M u
  find_dots(ctx, false);  // V^H [u w]; closes the column before
  subtract(ctx, false);   // q, and the next u: w without its parts along V and q; rotations, decides
  if (shape_.orthogonalization != Orthogonalization::cgs2) return;
  find_dots(ctx, true);
  subtract(ctx, true);
}

/// Z's next vector is z.
template <class T>
void Gmres<T>::keep(Context& ctx, const Array<T>& z) {
  const bool narrower = *shape_.kept != BasisPrecision::float64 && sizeof(real_t<T>) > sizeof(float);
  if (narrower) max_abs(ctx, z, most_);
  ctx.dispatch([&](const auto& where) {
    kept_->view(where, [&]<class S>(const BasisView<S>& view) {
      if constexpr (!std::is_same_v<real_t<S>, Half>)
        run_pass(where, z.size(),
                 KeepVector<kernel_t<T>, S>{view, state_.read(where), narrower ? most_.read(where) : nullptr,
                                            z.read(where), arnoldi(where).kept_scale});
    });
  });
}

template <class T>
void Gmres<T>::find_dots(Context& ctx, bool second_sweep) {
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    const Arnoldi<K> then = arnoldi(where, second_sweep);
    basis_.view(where, [&]<class S>(const BasisView<S>& view) {
      run_dots<K, S>(where, {{view.values, view.rows, view.stride},
                             &state_.read(where)->columns,
                             second_sweep ? 1 : 0,
                             shape_.restart,
                             second_sweep ? nullptr : u_.read(where),
                             w_.read(where),
                             second_sweep ? nullptr : then.s,
                             then.z,
                             then});
    });
  });
}

template <class T>
void Gmres<T>::subtract(Context& ctx, bool second_sweep) {
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    const Arnoldi<K> then = arnoldi(where, second_sweep);
    const bool delayed = shape_.orthogonalization == Orthogonalization::one_reduce,
               first_of_two = shape_.orthogonalization == Orthogonalization::cgs2 && !second_sweep;
    basis_.view(where, [&]<class S>(const BasisView<S>& view) {
      run_update<K, S>(where, {view, &state_.read(where)->columns, second_sweep ? 1 : 0, shape_.restart,
                               second_sweep ? nullptr : u_.read(where), delayed ? then.s : nullptr, w_.read(where),
                               second_sweep ? then.z : then.column, first_of_two ? w_.update(where) : u_.update(where),
                               &state_.read(where)->step, then});
    });
  });
}

template <class T>
void Gmres<T>::close_cycle(Context& ctx) {
  where_running(ctx, &State::ends, [&](const auto& where) {
    using K = kernel_t<T>;
    run_solve(where, arnoldi(where));
    update_solution(ctx);
    this->residual(ctx);
    this->measure(ctx);
    run_pass(where, 0, GmresGain<K>{rr_.read(where), state_.update(where)});
    where_running(ctx, &State::asks, [&](const auto&) { this->perturb(ctx, x_, u_, 0, w_, ss_); });
    run_pass(where, 0,
             GmresEnd<K>{rr_.read(where), ss_.read(where), state_.update(where), shape_.restart,
                         unit_roundoff<T> * unit_roundoff<T>, progress_.update(where)});
  });
}

/// x += M V y, or Z y.
template <class T>
void Gmres<T>::update_solution(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    (kept_ ? *kept_ : basis_).view(where, [&]<class S>(const BasisView<S>& view) {
      run_update<K, S>(where, {view,
                               &state_.read(where)->columns,
                               0,
                               shape_.restart,
                               nullptr,
                               nullptr,
                               kept_ ? x_.read(where) : nullptr,
                               arnoldi(where).z,
                               kept_ ? x_.update(where) : w_.write(where),
                               nullptr,
                               {}});
    });
  });
  if (kept_) return;
  const Array<T>& z = M_.apply(ctx, w_, z_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, z.size(), AddTo<kernel_t<T>>{z.read(where), x_.update(where)});
  });
}

template <class T>
template <class Where>
Arnoldi<kernel_t<T>> Gmres<T>::arnoldi(const Where& where, bool second_sweep) {
  const std::int64_t m = shape_.restart;
  Arnoldi<kernel_t<T>> a;
  a.state = state_.update(where), a.progress = progress_.update(where);
  a.m = shape_.restart, a.method = shape_.orthogonalization;
  a.flexible = kept_.has_value(), a.second_sweep = second_sweep;
  a.max_fall2 = std::max(max_fall2<T>(shape_.basis_precision), shape_.kept ? max_fall2<T>(*shape_.kept) : 0);
  auto* next = numbers_.update(where);
  for (auto** vector : {&a.s, &a.z, &a.column, &a.g, &a.rhs}) *vector = next, next += m + 1;
  a.sine = next, a.r = next + m, a.b = a.r + m * m;
  a.cosine = reals_.update(where), a.length = a.cosine + m, a.kept_scale = a.length + m;
  return a;
}

template <class T>
HeldMemory Gmres<T>::memory(MemoryLedger& ledger, std::int64_t size, const GmresOptions& o, bool preconditioned) {
  return memory(ledger, size, GmresShape(o, size), o.max_iterations, preconditioned);
}
template <class T>
HeldMemory Gmres<T>::memory(MemoryLedger& ledger, std::int64_t size, const FgmresOptions& o, bool preconditioned) {
  return memory(ledger, size, GmresShape(o, size), o.max_iterations, preconditioned);
}
template <class T>
HeldMemory Gmres<T>::memory(MemoryLedger& ledger, std::int64_t size, const GmresShape& shape, int max_iterations,
                            bool preconditioned) {
  const auto hold = [&](BasisPrecision precision) {
    Basis<T>::scratch(ledger, size, shape.restart, precision);
    return ledger.hold<std::byte>(Basis<T>::bytes(size, shape.restart, precision));
  };
  HeldMemory kept = Krylov<T>::memory(ledger, size, max_iterations, vectors - (preconditioned ? 0 : 1));
  kept += hold(shape.basis_precision);
  if (shape.kept) kept += hold(*shape.kept);
  kept += ledger.hold<wide_t<T>>(numbers_of(shape));
  return kept;
}

KRILL_INSTANTIATE(Gmres);

}  // namespace krill
