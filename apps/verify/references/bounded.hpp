// What references compute with: numbers in extended precision that know how far from them the same operations may end
// when every one of them is rounded (running error analysis: Wilkinson 1963; Higham 2002, section 3.3). A reference is
// then the textbook's loop, and its bound comes along, with whatever order a kernel adds in.
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "sparse/core/types.hpp"

namespace krill::apps::verify {

static_assert(std::numeric_limits<long double>::digits >= 64, "references need more bits than double has");

template <class T>
using Exact = std::conditional_t<is_complex<T>, Complex<long double>, long double>;

template <class T>
Exact<T> exact(const T& a) {
  if constexpr (is_complex<T>)
    return {a.real(), a.imag()};
  else
    return a;
}

inline long double modulus(long double a) { return std::fabs(a); }
inline long double modulus(Complex<long double> a) { return std::sqrt(a.re * a.re + a.im * a.im); }
inline long double real_part(long double a) { return a; }
inline long double real_part(Complex<long double> a) { return a.re; }

/// What k roundings in T in succession change at most, relative to the moduli: k u / (1 - k u) with u the unit roundoff
/// (Higham 2002, lemma 3.1). A complex operation is two real ones in each part, and the parts make a modulus: sqrt(2)
/// and 2 k (lemma 3.5). The thousandth on top is what the reference's own rounding may add.
template <class T>
long double gamma(std::int64_t k) {
  constexpr long double u = std::numeric_limits<real_t<T>>::epsilon() / 2.0L;
  const long double ku = static_cast<long double>(is_complex<T> ? 2 * k : k) * u;
  if (!(ku < 1)) return std::numeric_limits<long double>::infinity();
  return (is_complex<T> ? std::numbers::sqrt2_v<long double> : 1.0L) * 1.001L * ku / (1 - ku);
}

/// A number, and a bound of |computed in T - value|.
template <class T>
struct Bounded {
  Exact<T> value{};
  long double error = 0;

  Bounded() = default;
  Bounded(const T& a) : value(exact(a)) {}
  Bounded(const Exact<T>& a, long double e) : value(a), error(e) {}
  /// The greatest modulus that may be there in place of the value.
  long double greatest() const { return modulus(value) + error; }
};

template <class T>
using BoundedVector = std::vector<Bounded<T>>;

template <class T>
BoundedVector<T> bounded(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// What follows when a result is put back into its equations: one side computed from it in extended precision, the
/// other side, and how far apart rounding in T may have left the two.
template <class T>
struct Equations {
  std::vector<Exact<T>> left;
  BoundedVector<T> right;
};

constexpr std::size_t as_size(std::int32_t i) { return static_cast<std::size_t>(i); }

template <class R>
requires std::is_floating_point_v<R>
constexpr R conjugated(R a) { return a; }
template <class R>
std::complex<R> conjugated(const std::complex<R>& a) {
  return std::conj(a);
}
template <class R>
constexpr Complex<R> conjugated(const Complex<R>& a) {
  return {a.re, -a.im};
}
template <class T>
Bounded<T> conjugated(const Bounded<T>& a) {
  return {conjugated(a.value), a.error};
}

/// A sum of numbers and products in any order: n terms take n roundings each at most, so
/// |error| <= sum of the terms' own errors + gamma_n sum |term|, and what underflow takes of each product.
template <class T>
class BoundedSum {
 public:
  BoundedSum& add(const Bounded<T>& a) { return take(a.value, a.greatest(), a.error); }
  BoundedSum& add(const Bounded<T>& a, const Bounded<T>& b) { return take(a.value * b.value, a, b); }
  BoundedSum& subtract(const Bounded<T>& a, const Bounded<T>& b) { return take(-(a.value * b.value), a, b); }

  /// After `more` roundings of the whole.
  Bounded<T> result(int more = 0) const { return {value_, error_ + gamma<T>(terms_ + more) * magnitude_}; }

 private:
  BoundedSum& take(const Exact<T>& term, const Bounded<T>& a, const Bounded<T>& b) {
    const long double greatest = a.greatest() * b.greatest();
    return take(term, greatest,
                greatest - modulus(a.value) * modulus(b.value) +
                    (is_complex<T> ? 4 : 1) * static_cast<long double>(std::numeric_limits<real_t<T>>::denorm_min()));
  }
  BoundedSum& take(const Exact<T>& term, long double greatest, long double error) {
    value_ += term;
    magnitude_ += greatest;
    error_ += error;
    ++terms_;
    return *this;
  }

  Exact<T> value_{};
  long double magnitude_ = 0, error_ = 0;
  std::int64_t terms_ = 0;
};

template <class T>
Bounded<T> times(const Bounded<T>& a, const Bounded<T>& b) {
  return BoundedSum<T>().add(a, b).result();
}

/// Roundings of a quotient, which may be a product with an inverse. A complex one follows Smith (1962).
template <class T>
inline constexpr int quotient_roundings = is_complex<T> ? 6 : 2;

template <class T>
Bounded<T> quotient(const Bounded<T>& a, const Bounded<T>& b) {
  const Exact<T> value = a.value / b.value;
  const long double least = modulus(b.value) - b.error;
  if (!(least > 0)) return {value, std::numeric_limits<long double>::infinity()};
  const long double carried = (a.error + modulus(value) * b.error) / least;
  return {value, carried + gamma<T>(quotient_roundings<T>) * (modulus(value) + carried) +
                     static_cast<long double>(std::numeric_limits<real_t<T>>::denorm_min())};
}

/// The root of a real number.
template <class T>
Bounded<T> root(const Bounded<T>& a) {
  long double radicand;
  if constexpr (is_complex<T>)
    radicand = a.value.re;
  else
    radicand = a.value;
  const long double value = std::sqrt(radicand), least = radicand - a.error;
  if (!(least > 0)) return {Exact<T>(value), std::numeric_limits<long double>::infinity()};
  const long double carried = a.error / (value + std::sqrt(least));
  return {Exact<T>(value), carried + gamma<T>(1) * (value + carried)};
}

}  // namespace krill::apps::verify
