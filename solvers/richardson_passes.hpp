// The one pass of Richardson's iteration.
#pragma once
#include "solvers/progress.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// x += w z and r -= w q with q = A z; then rr = r'r, and the iteration is recorded. z may be r. Moves 6 n values.
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

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct RichardsonPasses {
  static constexpr auto list = passes<Where, RichardsonUpdate<T>>;
};

}  // namespace krill::detail
