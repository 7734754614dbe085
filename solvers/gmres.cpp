#include "solvers/gmres.hpp"

#include <algorithm>

#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

int restart_of(const GmresOptions& o, std::int64_t size) {
  const auto vectors = std::min<std::int64_t>({o.restart, o.max_iterations, size});
  return static_cast<int>(std::max<std::int64_t>(1, vectors));
}

}  // namespace

using namespace detail;

template <class T>
Gmres<T>::Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresOptions& options)
    : Krylov<T>(A, M, options.max_iterations, options.stop),
      restart_(restart_of(options, A.rows())),
      z_(A.rows(), "gmres z"),
      u_(A.rows(), "gmres u"),
      h_((restart_ + std::int64_t{1}) * restart_, "gmres H"),
      g_(restart_ + std::int64_t{1}, "gmres g"),
      sine_(restart_, "gmres sines"),
      y_(restart_, "gmres y"),
      dots_(gmres_group, "gmres dots"),
      cosine_(restart_, "gmres cosines"),
      length_(1, "gmres ||w||"),
      cycle_(std::vector<Cycle>(1), "gmres cycle") {
  for (int j = 0; j <= restart_; ++j) basis_.emplace_back(A.rows(), "gmres basis");
}

template <class T>
void Gmres<T>::iterate_once(Context& ctx) {
  begin_cycle(ctx);  // v0 = r / ||r||
  ctx.dispatch([&](const auto& where) {
    const Context::SkipScope until_the_cycle_ends(ctx, &cycle_.read(where)->reason);
    for (int j = 0; j < restart_; ++j) {
      this->look(where);
      step(ctx, j);
    }
  });
  close_cycle(ctx);  // x += M V y, r = b - A x; decides
}

template <class T>
void Gmres<T>::begin_cycle(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r_.size(),
             GmresBegin<kernel_t<T>>{rr_.read(where), r_.read(where), basis_[0].write(where), hessenberg(where),
                                     cycle_.update(where), progress_.read(where)});
  });
}

template <class T>
void Gmres<T>::step(Context& ctx, int j) {
  Array<T>& w = basis_[static_cast<std::size_t>(j) + 1];
  A_.apply(ctx, M_.apply(ctx, basis_[static_cast<std::size_t>(j)], z_), w);  // w = A M v_j
  orthogonalize(ctx, j);                                                     // w against v_0 ... v_j, ||w||, rotations
  if (j + 1 < restart_)
    ctx.dispatch([&](const auto& where) {
      run_pass(where, w.size(), Normalize<kernel_t<T>>{length_.read(where), w.update(where)});
    });
}

/// Two sweeps over the basis in groups. A pass takes the former group out of w and measures the next one at once.
template <class T>
void Gmres<T>::orthogonalize(Context& ctx, int j) {
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    const HessenbergView<K> hessenberg = this->hessenberg(where);
    wide_t<K>* dots = dots_.update(where);
    Array<T>& w = basis_[static_cast<std::size_t>(j) + 1];
    Subtract<K> former{{}, dots, w.update(where)};
    for (const bool first_sweep : {true, false})
      for (int first = 0; first <= j; first += gmres_group) {
        const BasisGroup<K> next = group(where, first, j + 1);
        run_pass(where, w.size(), Orthogonalize<K>{former, next, dots, hessenberg.column(j) + first, first_sweep});
        former.minus = next;
      }
    run_pass(
        where, w.size(),
        CloseColumn<K>{former, hessenberg, j, length_.write(where), cycle_.update(where), progress_.update(where)});
  });
}

template <class T>
void Gmres<T>::close_cycle(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    run_pass(where, 0, SolveTriangle<K>{hessenberg(where), cycle_.read(where)});
    for (int first = 0; first < restart_; first += gmres_group)
      run_pass(where, u_.size(),
               Combine<K>{group(where, first, restart_), first, y_.read(where), cycle_.read(where), u_.update(where)});
  });
  const Array<T>& z = M_.apply(ctx, u_, z_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, z.size(), AddTo<kernel_t<T>>{z.read(where), x_.update(where)});
  });
  this->residual(ctx);
  this->measure(ctx);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0, GmresGain{rr_.read(where), cycle_.update(where)});
    const Context::SkipScope where_nothing_was_gained(ctx, &cycle_.read(where)->reason);
    this->perturb(ctx, x_, u_, 0, basis_[0], ss_);
  });
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0,
             GmresEnd<kernel_t<T>>{rr_.read(where), ss_.read(where), cycle_.update(where), restart_,
                                   unit_roundoff<T> * unit_roundoff<T>, progress_.update(where)});
  });
}

template <class T>
template <class Where>
HessenbergView<kernel_t<T>> Gmres<T>::hessenberg(const Where& where) {
  return {restart_, h_.update(where), g_.update(where), sine_.update(where), y_.update(where), cosine_.update(where)};
}

/// Vectors first, ..., of the basis: as many as a group holds and there are before `end`.
template <class T>
template <class Where>
BasisGroup<kernel_t<T>> Gmres<T>::group(const Where& where, int first, int end) const {
  BasisGroup<kernel_t<T>> vectors;
  vectors.count = std::min(gmres_group, end - first);
  for (int k = 0; k < vectors.count; ++k)
    vectors.v[k] = basis_[static_cast<std::size_t>(first) + static_cast<std::size_t>(k)].read(where);
  return vectors;
}

template <class T>
HeldMemory Gmres<T>::memory(MemoryLedger& ledger, std::int64_t size, const GmresOptions& o, bool preconditioned) {
  const std::int64_t restart = restart_of(o, size);
  HeldMemory kept =
      Krylov<T>::memory(ledger, size, o.max_iterations, restart + vectors_beside_basis - (preconditioned ? 0 : 1));
  kept += ledger.hold<wide_t<T>>((restart + 1) * restart);
  return kept;
}

KRILL_INSTANTIATE(Gmres);

}  // namespace krill
