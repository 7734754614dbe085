#include "solvers/multigrid/cycle.hpp"

#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// Levels after the finest that a K-cycle solves with a Krylov method; V-cycles below keep the visits from doubling.
constexpr std::size_t krylov_levels = 2;

}  // namespace

template <class T>
void Cycle<T>::join_small_levels(Context& ctx) {
  if (kind_ == MultigridCycle::v) small_ = SmallLevels<T>::of(ctx, levels_);
}

template <class T>
void Cycle<T>::apply(Context& ctx, const Array<T>& b, Array<T>& x, Array<double>* dot,
                     const WideVector<T>& wide) const {
  require_size("multigrid: b", b.size(), levels_[0]->report.rows);
  require_size("multigrid: x", x.size(), levels_[0]->report.rows);
  require_disjoint("multigrid: b and x", b, x);
  visit(ctx, 0, kind_, b, x, true, dot, wide);
}

/// x = an approximate solution of the level, or a better one. A dense inverse has no use for a first guess, nor a dot.
template <class T>
void Cycle<T>::visit(Context& ctx, std::size_t number, MultigridCycle kind, const Array<T>& b, Array<T>& x,
                     bool from_zero, Array<double>* dot, const WideVector<T>& wide) const {
  const MultigridLevel<T>& level = *levels_[number];
  if (level.dense) return level.dense->apply(ctx, b, x);
  const Smoother<T>& smoother = *level.smoother;
  if (from_zero)
    smoother.smooth_from_zero(ctx, b, x, wide);
  else
    smoother.smooth(ctx, SmoothingTime::before, b, x);
  if (level.transfer) {
    MultigridLevel<T>& next = *levels_[number + 1];
    level.transfer->restrict_to(ctx, smoother.residual(ctx, b, x), next.b);
    correct(ctx, number + 1, kind);
    level.transfer->add_correction(ctx, next.x, x);
  }
  smoother.smooth(ctx, SmoothingTime::after, b, x, dot);
}

/// The correction that a level is asked for.
template <class T>
void Cycle<T>::correct(Context& ctx, std::size_t number, MultigridCycle kind) const {
  MultigridLevel<T>& level = *levels_[number];
  if (has_krylov_steps(number)) return krylov_steps(ctx, number);
  if (small_ && number == small_->first()) return small_->apply(ctx);
  visit(ctx, number, kind, level.b, level.x, true, nullptr);
  if (level.dense || kind == MultigridCycle::v || kind == MultigridCycle::k) return;
  visit(ctx, number, kind == MultigridCycle::f ? MultigridCycle::v : kind, level.b, level.x, false, nullptr);
}

template <class T>
bool Cycle<T>::has_krylov_steps(std::size_t number) const {
  return kind_ == MultigridCycle::k && number >= 1 && number <= krylov_levels && !levels_[number]->dense;
}

/// Two steps of a flexible Krylov method with cycles as its preconditioner: conjugate gradients for Hermitian positive
/// definite matrices, else generalized conjugate residuals (Notay 2010). Both are always taken.
template <class T>
void Cycle<T>::krylov_steps(Context& ctx, std::size_t number) const {
  using K = kernel_t<T>;
  MultigridLevel<T>& level = *levels_[number];
  auto& k = *level.krylov;
  const Array<T>&s1 = hermitian_ ? k.c1 : k.v1, &s2 = hermitian_ ? k.c2 : k.v2;
  visit(ctx, number, MultigridCycle::k, level.b, k.c1, true, nullptr);
  level.products->apply(ctx, k.c1, k.v1, {&s1, &k.s1_v1});
  dot(ctx, s1, level.b, k.s1_b);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, k.r.size(),
             FirstCycleResidual<K>{k.s1_v1.read(where), k.s1_b.read(where), level.b.read(where), k.v1.read(where),
                                   k.r.write(where)});
  });
  visit(ctx, number, MultigridCycle::k, k.r, k.c2, true, nullptr);
  level.products->apply(ctx, k.c2, k.v2, {&s1, &k.s1_v2, &s2, &k.s2_v2});
  dot(ctx, s2, k.r, k.s2_r);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, k.r.size(),
             CombineCycles<K>{{k.s1_v1.read(where), k.s1_b.read(where), k.s1_v2.read(where), k.s2_v2.read(where),
                               k.s2_r.read(where)},
                              k.c1.read(where),
                              k.c2.read(where),
                              level.x.write(where)});
  });
}

template <class T>
double Cycle<T>::visits(std::size_t number) const {
  if (number == 0) return 1;
  const bool dense = levels_[number]->dense.has_value();
  switch (kind_) {
    case MultigridCycle::w:
      return visits(number - 1) * (dense ? 1 : 2);
    case MultigridCycle::f:
      return static_cast<double>(number) + (dense ? 0 : 1);
    case MultigridCycle::k:
      return visits(number - 1) * (has_krylov_steps(number) ? 2 : 1);
    default:
      return 1;
  }
}

/// Visits that find a first guess.
template <class T>
double Cycle<T>::returns(std::size_t number) const {
  if (number == 0 || levels_[number]->dense) return 0;
  switch (kind_) {
    case MultigridCycle::w:
      return visits(number) / 2;
    case MultigridCycle::f:
      return 1;
    default:
      return 0;
  }
}

template <class T>
ApplicationWork Cycle<T>::work_of(std::size_t number) const {
  const MultigridLevel<T>& level = *levels_[number];
  const double times = visits(number), again = returns(number);
  ApplicationWork all;
  const auto add = [&](double count, const ApplicationWork& one) {
    all.own += {count * one.own.bytes, count * one.own.flops};
    all.products += count * one.products;
  };
  if (level.dense) {
    add(times, {level.dense->work()});
    return all;
  }
  add(times - again, level.smoother->work(true));
  add(times + again, level.smoother->work(false));
  if (level.transfer) add(times, level.smoother->residual_work()), add(times, {level.transfer->work()});
  if (level.krylov) {  // each two visits: two products, the second with c1 or v1 for a dot, two dots, two passes
    all.products += times;
    const auto n = static_cast<double>(level.report.rows);
    add(times / 2, {{(2 * 2 + 1 + 2 * 2 + 3 + 3) * n * sizeof(T), (3 + 2 + 1 + 2) * n * multiply_add<T>}});
  }
  return all;
}

template <class T>
ApplicationWork Cycle<T>::work() const {
  ApplicationWork all;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const ApplicationWork of_level = work_of(l);
    const Work& product = levels_[l]->product_work;  // zeros where the level has no products of its own
    all.own += of_level.own;
    all.own += {of_level.products * product.bytes, of_level.products * product.flops};
    if (!levels_[l]->own_products) all.products += of_level.products;
  }
  return all;
}

KRILL_INSTANTIATE(Cycle);

}  // namespace krill
