// The level 1 operations as passes, written once for both backends.
#pragma once
#include <bit>

#include "sparse/core/array.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// The square root by Newton's iteration from above; correctly rounded to within one unit, and the same on both
/// backends. For the one scalar at the end of a sum, where std::sqrt is not constexpr.
constexpr double square_root(double a) {
  if (!(a > 0) || a - a != 0) return a;                           // 0, NaN and infinity are their own answer here
  if (a < 0x1p-1000) return square_root(a * 0x1p200) * 0x1p-100;  // the exponent of a subnormal says nothing
  // half the exponent: within a factor of sqrt(2) of the root
  auto root = std::bit_cast<double>((std::bit_cast<std::uint64_t>(a) >> 1) + (std::uint64_t{1023} << 51));
  for (int i = 0; i < 6; ++i) root = 0.5 * (root + a / root);
  return root;
}

/// x_i = value.
template <class T>
struct FillWith {
  using Sum = NoSum;
  ScalarView<T> value_at;
  T* x;
  T value{};

  constexpr bool begin() { return value = value_at(), true; }
  constexpr NoSum entry(std::int64_t i) const { return x[i] = value, NoSum{}; }
};

/// y = alpha x + beta y.
template <class T>
struct Axpby {
  using Sum = NoSum;
  ScalarView<T> alpha_at, beta_at;
  const T* x;
  T* y;
  T alpha{}, beta{};

  constexpr bool begin() { return alpha = alpha_at(), beta = beta_at(), true; }
  constexpr NoSum entry(std::int64_t i) const {
    T result = alpha * x[i];
    if (!(beta == T(0))) result += beta * y[i];
    return y[i] = result, NoSum{};
  }
};

/// z = x .* y.
template <class T>
struct Multiply {
  using Sum = NoSum;
  const T *x, *y;
  T* z;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] = x[i] * y[i], NoSum{}; }
};

/// result = x^H y.
template <class T>
struct Dot {
  using Sum = wide_t<T>;
  const T *x, *y;
  wide_t<T>* result;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const { return conj(wide(x[i])) * wide(y[i]); }
  constexpr void finish(const Sum& sum) const { *result = sum; }
};

/// result = ||x||_2.
template <class T>
struct Norm2 {
  using Sum = double;
  const T* x;
  double* result;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const { return squared(x[i]); }
  constexpr void finish(double sum) const { *result = square_root(sum); }
};

/// The largest of what was seen, NaN once one was.
struct Largest {
  double value = 0;
  constexpr Largest& operator+=(Largest other) {
    if (!(other.value <= value) && value == value) value = other.value;
    return *this;
  }
};

/// result = max |x_i|.
template <class T>
struct MaxAbs {
  using Sum = Largest;
  const T* x;
  double* result;

  constexpr bool begin() const { return true; }
  constexpr Largest entry(std::int64_t i) const {
    if constexpr (is_complex<T>) {
      Largest both{magnitude(x[i].re)};
      return both += Largest{magnitude(x[i].im)};
    } else {
      return {magnitude(x[i])};
    }
  }
  constexpr void finish(const Largest& most) const { *result = most.value; }

  static constexpr double magnitude(double a) { return a < 0 ? -a : a; }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct VectorPasses {
  static constexpr auto list = passes<Where, FillWith<T>, Axpby<T>, Multiply<T>, Dot<T>, Norm2<T>, MaxAbs<T>>;
};

}  // namespace krill::detail
