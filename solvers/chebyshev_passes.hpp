// The passes of Chebyshev polynomials.
#pragma once
#include "solvers/bad_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"

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
  constexpr NoSum entry(std::int64_t i) const { return z[i] += step(i, w[i]), NoSum{}; }
  constexpr T step(std::int64_t i, T w_i) const {
    return d[i] = scaled(d[i], old) + scaled(r[i] - w_i, fresh * inverse[i]);
  }
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
template <class Value, class Where, class T = kernel_t<Value>>
struct ChebyshevPasses {
  static constexpr auto list = passes<Where, InvertPositive<T>, StartChebyshev<T>, StepChebyshev<T>, EndChebyshev<T>>;
};

}  // namespace krill::detail
