// The passes between the precision of a solve and that of its preconditioner.
#pragma once
#include <cmath>
#include <limits>

#include "sparse/convert/convert_passes.hpp"

namespace krill::detail {

/// What values are in single precision.
struct LoweredValues {
  FirstIndex overflow;  ///< the first that is finite and overflows there
  double greatest = 0, least = std::numeric_limits<double>::infinity();  ///< of finite entries, 0 left out
  constexpr LoweredValues& operator+=(const LoweredValues& other) {
    overflow += other.overflow;
    greatest = other.greatest > greatest ? other.greatest : greatest;
    least = other.least < least ? other.least : least;
    return *this;
  }
};

/// The greater modulus of both parts.
template <class T>
constexpr double greater_part(T value) {
  const double re = std::abs(static_cast<double>(real(value)));
  if constexpr (is_complex<T>) {
    const double im = std::abs(static_cast<double>(value.im));
    return im > re ? im : re;
  }
  return re;
}

/// to_k = scale from_k in single precision. Over the entries.
template <class High, class Low>
struct LowerValues {
  using Sum = LoweredValues;
  double scale;
  const High* from;
  Low* to;
  LoweredValues* facts;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const {
    const High value = from[k];
    const Low lower = Low(scaled(value, scale));
    to[k] = lower;
    if (!is_finite(value)) return {};
    const double size = greater_part(value);
    Sum found;
    if (!is_finite(lower)) found.overflow = {k};
    if (size > 0) found.greatest = found.least = size;
    return found;
  }
  constexpr void finish(const Sum& sum) const { *facts = sum; }
};

/// to = from in single precision.
template <class High, class Low>
struct LowerVector {
  using Sum = NoSum;
  const High* from;
  Low* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return to[i] = Low(from[i]), NoSum{}; }
};

/// z = *factor low.
template <class Low, class High>
struct RaiseVector {
  using Sum = NoSum;
  const double* factor;
  const Low* low;
  High* z;
  double scale{};

  constexpr bool begin() { return scale = *factor, true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] = scaled(High(low[i]), scale), NoSum{}; }
};

/// z = *factor low, rz = Re r'z.
template <class Low, class High>
struct RaiseDot {
  using Sum = double;
  RaiseVector<Low, High> raise;
  const High* r;
  double* rz;

  constexpr bool begin() { return raise.begin(); }
  constexpr double entry(std::int64_t i) const {
    raise.entry(i);
    return real(conj(r[i]) * raise.z[i]);
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// What is compiled for each backend.
template <class High, class Low, class Where>
struct LowerPrecisionPasses {
  static constexpr auto list =
      passes<Where, LowerValues<High, Low>, LowerVector<High, Low>, RaiseVector<Low, High>, RaiseDot<Low, High>>;
};

}  // namespace krill::detail
