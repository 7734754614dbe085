// Pivots: boosted, or the root for Cholesky; zeros and others that are not finite are noted.
#pragma once
#include <cmath>

#include "sparse/factor/incomplete_passes.hpp"

namespace krill::detail {

/// Notes an event in row i: the first row is kept.
template <class T, class Offset>
constexpr void note_row(const FactorTask<T, Offset>& f, PivotEvent event, std::int32_t i) {
#ifdef __CUDA_ARCH__
  atomicMin(f.events + event, i);
#else
  if (i < f.events[event]) f.events[event] = i;
#endif
}
template <class T, class Offset>
constexpr void note_boost(const FactorTask<T, Offset>& f) {
#ifdef __CUDA_ARCH__
  atomicAdd(f.events + boosted_pivots_event, 1);
#else
  ++f.events[boosted_pivots_event];
#endif
}

/// The pivot of row i, from what elimination left on its diagonal: boosted if that is wanted, the root for Cholesky.
/// Notes pivots that are zero, not positive (Cholesky) or not finite.
template <class T, class Offset>
constexpr T finished_pivot(const FactorTask<T, Offset>& f, std::int32_t i, T left) {
  if (f.p.cholesky) {
    const real_t<T> radicand = real(left);
    if (!is_finite(radicand)) note_row(f, bad_pivot_event, i);
    if (!(radicand > real_t<T>(0))) note_row(f, zero_pivot_event, i);
    return T(std::sqrt(radicand));
  }
  if (f.boost.changes(left)) {
    note_boost(f);
    return f.boost.changed(left);
  }
  if (!is_finite(left)) note_row(f, bad_pivot_event, i);
  if (left == T(0)) note_row(f, zero_pivot_event, i);
  return left;
}

}  // namespace krill::detail
