// The fused passes of BiCGStab. Its scalars live on the backend's side.
#pragma once
#include "solvers/progress.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// The scalars of the recurrence.
template <class T>
struct BicgstabScalars {
  using W = wide_t<T>;
  W rho{}, rho_old{}, alpha{}, omega{};
  double shadow2 = 0;      // ||r0||^2
  bool first = true;       // the next direction is r alone
  bool half_step = false;  // the loop ended between the two halves: x lacks alpha M p
};

/// Starts from the residual: the shadow residual is r, rho = r'r. Moves 2 n values.
template <class T>
struct BicgstabStart {
  using Sum = NoSum;
  const T* r;
  T* shadow;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return shadow[i] = r[i], NoSum{}; }
};
template <class T>
struct BicgstabReset {
  using Sum = double;
  const double* rr;
  BicgstabScalars<T>* scalars;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    *scalars = {};
    scalars->rho = wide_t<T>(*rr);
    scalars->shadow2 = *rr;
  }
};

/// p = r + beta (p - omega v), at first p = r. Ends as breakdown_rho where r is orthogonal to the shadow residual.
/// Moves 4 n values.
template <class T>
struct BicgstabDirection {
  using Sum = NoSum;
  const BicgstabScalars<T>* scalars;
  const double* rr;
  const T *r, *v;
  T* p;
  Progress* progress;
  T beta{}, omega{};
  bool first = false;

  constexpr bool begin() {
    constexpr double rounding4 = 1e-60;
    const BicgstabScalars<T>& s = *scalars;
    if (!(squared(s.rho) > rounding4 * s.shadow2 * *rr)) {
      progress->reason = is_finite(s.rho) ? Reason::breakdown_rho : Reason::not_finite;
      return false;
    }
    first = s.first;
    if (first) return true;
    beta = T(s.rho / s.rho_old * (s.alpha / s.omega)), omega = T(s.omega);
    return true;
  }
  constexpr NoSum entry(std::int64_t i) const {
    p[i] = first ? r[i] : r[i] + beta * (p[i] - omega * v[i]);
    return {};
  }
};

/// alpha = rho / r0'v, s = r - alpha v in the place of r. Where s meets the tolerance already, the iteration ends here.
/// Moves 3 n values.
template <class T>
struct BicgstabHalf {
  using Sum = double;
  const wide_t<T>* shadow_v;
  const T* v;
  T* r;
  BicgstabScalars<T>* scalars;
  Progress* progress;
  T alpha{};

  constexpr bool begin() {
    const wide_t<T> step = scalars->rho / *shadow_v;
    alpha = T(step);
    if (*shadow_v == wide_t<T>(0)) return progress->reason = Reason::breakdown_rho, false;
    if (!is_finite(step) || !is_finite(alpha)) return progress->reason = Reason::not_finite, false;
    return true;
  }
  constexpr double entry(std::int64_t i) const {
    const T s = r[i] - alpha * v[i];
    r[i] = s;
    return squared(s);
  }
  constexpr void finish(double ss) const {
    scalars->alpha = scalars->rho / *shadow_v;
    if (!(ss <= progress->target2)) return;
    scalars->half_step = true;
    progress->observe(ss);
  }
};

/// What the second half adds up: r'r and r0'r.
template <class T>
struct BicgstabSums {
  double rr = 0;
  wide_t<T> rho{};
  constexpr BicgstabSums& operator+=(const BicgstabSums& other) { return rr += other.rr, rho += other.rho, *this; }
};

/// omega = t's / t't, x += alpha y + omega z, r = s - omega t; y = M p and z = M s. Books the iteration. Moves 8 n
/// values.
template <class T>
struct BicgstabUpdate {
  using Sum = BicgstabSums<T>;
  const wide_t<T>*ts, *tt;  // s't and t't
  const T *y, *z, *t, *shadow;
  T *x, *r;
  double* rr;
  BicgstabScalars<T>* scalars;
  Progress* progress;
  T alpha{}, omega{};

  constexpr bool begin() {
    const wide_t<T> step = conj(*ts) / *tt;
    alpha = T(scalars->alpha), omega = T(step);
    if (*tt == wide_t<T>(0) || step == wide_t<T>(0)) return progress->reason = Reason::breakdown_omega, false;
    if (!is_finite(step) || !is_finite(omega)) return progress->reason = Reason::not_finite, false;
    return true;
  }
  constexpr Sum entry(std::int64_t i) const {
    const T new_x = x[i] + alpha * y[i] + omega * z[i], new_r = r[i] - omega * t[i];
    x[i] = new_x;
    r[i] = new_r;
    return {squared(new_r), conj(wide(shadow[i])) * wide(new_r)};
  }
  constexpr void finish(const Sum& sum) const {
    scalars->omega = conj(*ts) / *tt;
    scalars->rho_old = scalars->rho;
    scalars->rho = sum.rho;
    scalars->first = false;
    *rr = sum.rr;
    progress->observe(sum.rr);
  }
};

/// x += alpha y where the loop ended, or broke down, after its first half. Moves 3 n values or none.
template <class T>
struct BicgstabSettle {
  using Sum = NoSum;
  const BicgstabScalars<T>* scalars;
  const Progress* progress;
  const T* y;
  T* x;
  T alpha{};

  constexpr bool begin() {
    alpha = T(scalars->alpha);
    return scalars->half_step || progress->reason == Reason::breakdown_omega;
  }
  constexpr NoSum entry(std::int64_t i) const { return x[i] += alpha * y[i], NoSum{}; }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct BicgstabPasses {
  static constexpr auto list = passes<Where, BicgstabStart<T>, BicgstabReset<T>, BicgstabDirection<T>, BicgstabHalf<T>,
                                      BicgstabUpdate<T>, BicgstabSettle<T>>;
};

}  // namespace krill::detail
