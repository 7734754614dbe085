// What becomes of pivots that are too small, and what is noted of pivots.
#pragma once
#include <bit>
#include <cmath>

#include "sparse/factor/incomplete.hpp"

namespace krill::detail {

/// Words of `events`: the first row whose pivot is zero (for IC(0), not positive), the first whose pivot is
/// not finite, and the number of boosted pivots.
enum PivotEvent { zero_pivot_event, bad_pivot_event, boosted_pivots_event, pivot_events };

/// A PivotBoost, or none, as kernels see it.
template <class T>
struct Boost {
  bool wanted = false;
  PivotBoost<T> to = {};

  constexpr bool changes(T pivot) const { return wanted && std::sqrt(squared(pivot)) <= to.tolerance; }
  /// The value of a pivot that it changes.
  constexpr T changed(T pivot) const {
    if constexpr (is_complex<T>) {
      const double modulus = std::sqrt(squared(pivot));
      if (!to.keeps_phase || modulus == 0) return to.value;
      return to.value * T(static_cast<real_t<T>>(pivot.re / modulus), static_cast<real_t<T>>(pivot.im / modulus));
    } else {
      return to.keeps_phase && pivot < T(0) ? -to.value : to.value;
    }
  }
  constexpr T operator()(T pivot) const { return changes(pivot) ? changed(pivot) : pivot; }
};
template <class T>
Boost<kernel_t<T>> for_kernels(const std::optional<PivotBoost<T>>& boost) {
  if (!boost) return {};
  return {true, {boost->tolerance, std::bit_cast<kernel_t<T>>(boost->value), boost->keeps_phase}};
}
/// Raises InvalidArgument for IC(0) with a boost.
template <class T>
void require_lu(const std::optional<PivotBoost<T>>& boost, Factorization kind) {
  if (boost && kind == Factorization::ic0)
    throw InvalidArgument("incomplete factorization: a boost of pivots is for ILU(0); shift the diagonal for IC(0)");
}

}  // namespace krill::detail
