// The passes of Chebyshev polynomials and of the estimate of the largest eigenvalue that they rest on.
#pragma once
#include <cmath>

#include "solvers/precond/precond_passes.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/io/counter_random.hpp"

namespace krill::detail {

/// inverse_i = 1 / d_i, and the first d_i that is not positive, or not finite. Imaginary parts are ignored.
template <class T>
struct InvertPositive {
  using Sum = BadRow;
  const T* d;
  real_t<T>* inverse;
  BadRow* bad;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const real_t<T> value = real(d[i]);
    inverse[i] = real_t<T>(1) / value;
    if (is_finite(d[i]) && value > real_t<T>(0)) return {};
    return {static_cast<std::int32_t>(i), value == real_t<T>(0)};
  }
  constexpr void finish(const Sum& sum) const { *bad = sum; }
};

/// The greatest sum of moduli in a row of D^-1 A, and the first row where that is not finite.
struct RowBound {
  double max = 0;
  BadRow bad;
  constexpr RowBound& operator+=(const RowBound& other) {
    if (other.max > max) max = other.max;
    bad += other.bad;
    return *this;
  }
};

/// No eigenvalue of D^-1 A is larger than its greatest row sum (Gershgorin 1931). Over the rows.
template <class T, class Offset>
struct BoundRows {
  using Sum = RowBound;
  CsrView<const T, Offset> a;
  const real_t<T>* inverse;
  RowBound* bound;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    double sum = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) sum += std::sqrt(squared(a.values[k]));
    sum *= static_cast<double>(inverse[i]);
    if (is_finite(sum)) return {sum, {}};
    return {0, {static_cast<std::int32_t>(i), 0}};
  }
  constexpr void finish(const Sum& sum) const { *bound = sum; }
};

/// A random r, the same in every run, that is uniform in the scale of D^-1/2 A D^-1/2; rz = r' D^-1 r. p is zeroed.
template <class T>
struct StartLanczos {
  using Sum = double;
  const real_t<T>* inverse;
  T *r, *p;
  double* rz;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const auto inverse_i = static_cast<double>(inverse[i]);
    const auto value = CounterRandom(1, 0).template symmetric<wide_t<T>>(i);
    r[i] = T(scaled(value, 1 / std::sqrt(inverse_i)));
    p[i] = T{};
    return squared(r[i]) * inverse_i;
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// p = D^-1 r + beta p.
template <class T>
struct LanczosDirection {
  using Sum = NoSum;
  real_t<T> beta;
  const real_t<T>* inverse;
  const T* r;
  T* p;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return p[i] = scaled(r[i], inverse[i]) + scaled(p[i], beta), NoSum{}; }
};

/// r -= alpha q, rz = r' D^-1 r.
template <class T>
struct LanczosResidual {
  using Sum = double;
  real_t<T> alpha;
  const real_t<T>* inverse;
  const T* q;
  T* r;
  double* rz;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const T value = r[i] - scaled(q[i], alpha);
    r[i] = value;
    return squared(value) * static_cast<double>(inverse[i]);
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// d = z = factor D^-1 r. Moves 4 n values.
template <class T>
struct StartChebyshev {
  using Sum = NoSum;
  const real_t<T>* coefficient;
  const real_t<T>* inverse;
  const T* r;
  T *d, *z;
  real_t<T> factor{};

  constexpr bool begin() { return factor = *coefficient, true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] = d[i] = scaled(r[i], factor * inverse[i]), NoSum{}; }
};

/// With w = A z: d = old d + fresh D^-1 (r - w), z += d. Moves 7 n values.
template <class T>
struct StepChebyshev {
  using Sum = NoSum;
  const real_t<T>* coefficients;
  const real_t<T>* inverse;
  const T *r, *w;
  T *d, *z;
  real_t<T> old{}, fresh{};

  constexpr bool begin() { return old = coefficients[0], fresh = coefficients[1], true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] += step(i), NoSum{}; }
  constexpr T step(std::int64_t i) const { return d[i] = scaled(d[i], old) + scaled(r[i] - w[i], fresh * inverse[i]); }
};

/// The same, and rz = Re r'z.
template <class T>
struct EndChebyshev {
  using Sum = double;
  StepChebyshev<T> last;
  double* rz;

  constexpr bool begin() { return last.begin(); }
  constexpr double entry(std::int64_t i) const {
    last.entry(i);
    return real(conj(wide(last.r[i])) * wide(last.z[i]));
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ChebyshevPasses {
  static constexpr auto list =
      passes<Where, InvertPositive<T>, BoundRows<T, Offset>, StartLanczos<T>, LanczosDirection<T>, LanczosResidual<T>,
             StartChebyshev<T>, StepChebyshev<T>, EndChebyshev<T>>;
};

}  // namespace krill::detail
