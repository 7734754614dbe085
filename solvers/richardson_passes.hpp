// The one pass of Richardson's iteration.
#pragma once
#include "krill/solvers/progress.hpp"
#include "krill/sparse/core/pass.hpp"
#include "krill/sparse/core/types.hpp"

namespace krill {

/// x += w z and r -= w q with q = A z; then rr = r'r, and the iteration is booked. z may be r. Moves 6 n values.
template <class T>
struct RichardsonUpdate {
  using Sum = double;
  real_t<T> relaxation;
  const T *z, *q;
  T *x, *r;
  double* rr;
  Progress* progress;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const T step = scaled(z[i], relaxation), drop = scaled(q[i], relaxation), old_x = x[i], old_r = r[i];
    const T new_r = old_r - drop;
    x[i] = old_x + step;
    r[i] = new_r;
    return squared(new_r);
  }
  constexpr void finish(double sum) const {
    *rr = sum;
    progress->observe(sum);
  }
};

}  // namespace krill
