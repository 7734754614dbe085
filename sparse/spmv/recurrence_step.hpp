// What rows of a product do in a smoother, beside their residual.
#pragma once
#include "sparse/core/array.hpp"

namespace krill {

/// A step of a recurrence x += w0 d0 + w1 d1 + ..., d = fresh D^-1 r + old (the d before), where r = b - A x in the
/// first step, and r less A times the d before in the others: what rows do as soon as their r is known, so that it need
/// not be read again. x lags behind by a step, for rows of A read the d before, and in the first step x: step k adds
/// what step k - 1 has found. The last one adds its own, too, and has x where the others have r.
template <class T>
struct RecurrenceStep {
  const Array<real_t<T>>& inverse;   ///< the diagonal of D^-1
  const Array<real_t<T>>& factors;   ///< {old, fresh, weight} of each step
  int number;                        ///< of this step, from 0
  const Array<T>* former = nullptr;  ///< the d before; null in the first step
  Array<T>* d = nullptr;             ///< what d becomes; null in the last step, which is not the first
  Array<T>* x = nullptr;             ///< of those in between
  bool from_zero = false;            ///< x is 0 before the step, whatever it holds
};

}  // namespace krill
