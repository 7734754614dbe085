// A Chebyshev polynomial.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/chebyshev.hpp"

namespace krill::apps::verify {

inline Judging judging(const ChebyshevOptions&) { return {}; }

/// Golub and Varga (1961).
template <class T>
BoundedVector<T> reference(const ChebyshevOptions& o, const Question<T>& q) {
  const auto most = fact<double>(q.report, "interval_most"), least = fact<double>(q.report, "interval_least");
  const double center = 0.5 * (most + least), radius = 0.5 * (most - least), sigma = center / radius;
  BoundedVector<T> inverse(q.r.size()), d(q.r.size()), z(q.r.size());
  for (std::int32_t i = 0; i < q.A.rows; ++i) {
    Bounded<T> pivot = entry(q.A, i, i);
    if constexpr (is_complex<T>) pivot.value.im = 0;
    inverse[as_size(i)] = quotient(Bounded<T>(T(1)), pivot);
    z[as_size(i)] = d[as_size(i)] = times(times(factor<T>(1 / center), inverse[as_size(i)]), q.r[as_size(i)]);
  }
  double rho = 1 / sigma;
  for (int k = 1; k <= o.degree; ++k) {
    const BoundedVector<T> w = product<T>(q.A, z);
    const double next = 1 / (2 * sigma - rho), old = next * rho, fresh = 2 * next / radius;
    rho = next;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const Bounded<T> residual = BoundedSum<T>().add(q.r[i]).subtract(w[i], Bounded<T>(T(1))).result();
      d[i] = BoundedSum<T>().add(factor<T>(old), d[i]).add(times(factor<T>(fresh), inverse[i]), residual).result();
      z[i] = BoundedSum<T>().add(z[i]).add(d[i]).result();
    }
  }
  return z;
}

}  // namespace krill::apps::verify
