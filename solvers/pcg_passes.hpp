// The fused passes of PCG: each reads and writes every vector it needs once.
#pragma once
#include "solvers/progress.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// p = z + (rho / rho_old) p, and p = z while rho_old is 0. Moves 3 n values.
template <class T>
struct PcgDirection {
  using Sum = NoSum;
  const double *rho, *rho_old;
  const T* z;
  T* p;
  real_t<T> beta = 0;

  constexpr bool begin() {
    beta = *rho_old == 0 ? real_t<T>(0) : static_cast<real_t<T>>(*rho / *rho_old);
    return true;
  }
  constexpr NoSum entry(std::int64_t i) const {
    p[i] = beta == 0 ? z[i] : z[i] + scaled(p[i], beta);
    return {};
  }
};

/// x += a p and r -= a q with a = rho / p'q; then rr = r'r, rho_old = rho, and the iteration is recorded. Where p'Ap or
/// r'Mr is not positive, or a is not finite, only the reason changes: x stays good. Moves 6 n values.
template <class T>
struct PcgUpdate {
  using Sum = double;
  const double* rho;
  const wide_t<T>* pq;
  const T *p, *q;
  T *x, *r;
  double *rr, *rho_old;
  Progress* progress;
  real_t<T> alpha = 0;

  constexpr bool begin() {
    const double curvature = real(*pq), step = *rho / curvature;
    alpha = static_cast<real_t<T>>(step);
    if (curvature <= 0) return progress->reason = Reason::not_positive_definite, false;
    if (*rho <= 0) return progress->reason = Reason::indefinite_preconditioner, false;
    if (!is_finite(step) || !is_finite(alpha)) return progress->reason = Reason::not_finite, false;
    return true;
  }
  constexpr double entry(std::int64_t i) const {
    const T step = scaled(p[i], alpha), drop = scaled(q[i], alpha), old_x = x[i], old_r = r[i];  // loads, then stores
    const T new_r = old_r - drop;
    x[i] = old_x + step;
    r[i] = new_r;
    return squared(new_r);
  }
  constexpr void finish(double sum) const {
    *rho_old = *rho;  // before rr: without a preconditioner rho is rr
    *rr = sum;
    progress->observe(sum);
  }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct PcgPasses {
  static constexpr auto list = passes<Where, PcgDirection<T>, PcgUpdate<T>>;
};

}  // namespace krill::detail
