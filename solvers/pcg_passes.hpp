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

/// What a preconditioner that may be another one each time made of r: rho = Re r'z, and qz = q'z with the product of
/// the direction before. Moves 3 n values.
template <class T>
struct FcgDots {
  struct Sum {
    double rz = 0;
    wide_t<T> qz{};
    constexpr Sum& operator+=(const Sum& other) { return rz += other.rz, qz += other.qz, *this; }
  };
  const T *r, *z, *q;
  const double* rho_old;
  double* rho;
  wide_t<T>* qz;
  bool first = false;

  constexpr bool begin() { return first = *rho_old == 0, true; }
  constexpr Sum entry(std::int64_t i) const {
    const wide_t<T> z_i = wide(z[i]);
    return {real(conj(wide(r[i])) * z_i), first ? wide_t<T>(0) : conj(wide(q[i])) * z_i};
  }
  constexpr void finish(const Sum& sum) const { *rho = sum.rz, *qz = sum.qz; }
};

/// p = z - (q'z / p'q) p with the p and q before, so that p'A p = 0 of both whatever M is; p = z while rho_old is 0.
/// Moves 3 n values.
template <class T>
struct FcgDirection {
  using Sum = NoSum;
  const double* rho_old;
  const wide_t<T>*qz, *pq;
  const T* z;
  T* p;
  T beta{};
  bool first = false;

  constexpr bool begin() {
    first = *rho_old == 0;
    if (!first) beta = T(-(*qz / wide_t<T>(real(*pq))));
    if (!is_finite(beta)) beta = T(0);  // of numbers that all but vanished
    return true;
  }
  constexpr NoSum entry(std::int64_t i) const { return p[i] = first ? z[i] : z[i] + beta * p[i], NoSum{}; }
};

/// What the form with a single reduction keeps from one iteration to the next.
struct SingleReductionScalars {
  double rho_old = 0, alpha_old = 0;
  bool alone = false;                   ///< the last direction was u alone
  int replaced = 0;                     ///< the iteration that r was last computed anew in
  Reason replaces = Reason::converged;  ///< running: it is due
};

/// An iteration of PCG after u = M r and w = A u: p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s
/// (Chronopoulos and Gear 1989), with p'A p = u'A u - beta^2 times the former one. Ends as PcgUpdate does. Moves 10 n
/// values.
template <class T>
struct SingleReductionUpdate {
  using Sum = double;
  /// What rounding leaves of p'A p beside u'A u. Reasoned, not varied.
  static constexpr double rounding = 1e4 * unit_roundoff<T>;
  const double* rho;
  const wide_t<T>* uw;
  const T *u, *w;
  T *p, *s, *x, *r;
  double* rr;
  SingleReductionScalars* scalars;
  int interval;  // iterations until r is computed anew; 0: never
  Progress* progress;
  double step = 0;
  real_t<T> alpha = 0, beta = 0;

  constexpr bool begin() {
    const double old = scalars->rho_old, curvature_of_u = real(*uw);
    double turn = old == 0 ? 0 : *rho / old, curvature = curvature_of_u;
    if (turn != 0) curvature -= turn * *rho / scalars->alpha_old;
    // A difference of about equal numbers says nothing of A, nor does a recurrence that has gone wrong: then u alone is
    // the direction. After such a one, the recurrence is to be trusted.
    const bool equal = curvature >= -rounding * curvature_of_u;
    if (curvature <= rounding * curvature_of_u && (equal || !scalars->alone)) turn = 0, curvature = curvature_of_u;
    step = *rho / curvature;
    alpha = static_cast<real_t<T>>(step), beta = static_cast<real_t<T>>(turn);
    if (curvature <= 0) return progress->reason = Reason::not_positive_definite, false;
    if (*rho <= 0) return progress->reason = Reason::indefinite_preconditioner, false;
    if (!is_finite(step) || !is_finite(alpha)) return progress->reason = Reason::not_finite, false;
    return true;
  }
  constexpr double entry(std::int64_t i) const {
    const T old_p = p[i], old_s = s[i], old_x = x[i], old_r = r[i];  // loads, then stores
    const T new_p = beta == 0 ? u[i] : u[i] + scaled(old_p, beta),
            new_s = beta == 0 ? w[i] : w[i] + scaled(old_s, beta);
    const T new_r = old_r - scaled(new_s, alpha);
    p[i] = new_p, s[i] = new_s;
    x[i] = old_x + scaled(new_p, alpha);
    r[i] = new_r;
    return squared(new_r);
  }
  constexpr void finish(double sum) const {
    scalars->alone = beta == 0;
    scalars->rho_old = *rho, scalars->alpha_old = step;  // before rr: without a preconditioner rho is rr
    *rr = sum;
    progress->observe(sum);
    if (interval > 0 && progress->reason == Reason::running && progress->iteration - scalars->replaced >= interval)
      scalars->replaced = progress->iteration, scalars->replaces = Reason::running;
  }
};

/// Before the loop, and after r and s were computed anew. A pass over nothing.
struct SingleReductionStart {
  using Sum = double;
  SingleReductionScalars* scalars;
  const Progress* progress;
  bool anew;  // the first direction is u alone

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    scalars->replaces = Reason::converged;
    if (anew) *scalars = {.replaced = progress->iteration};
  }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct PcgPasses {
  static constexpr auto list = passes<Where, PcgDirection<T>, PcgUpdate<T>, FcgDots<T>, FcgDirection<T>,
                                      SingleReductionUpdate<T>, SingleReductionStart>;
};

}  // namespace krill::detail
