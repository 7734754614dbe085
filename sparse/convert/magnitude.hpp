// How large an entry is, and which entries are kept for it.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sparse/core/half.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// |a|: exact in float (of float and Half) or double; of complex a in double to two ulps, in its whole range, not less
/// than either part, and the same for all of +-x +- y i and +-y +- x i. NaN where a part is. The same on both backends:
/// what to fuse is said here.
template <class T>
constexpr auto magnitude(T a) {
  if constexpr (is_complex<T>) {
    const double re = magnitude(a.re), im = magnitude(a.im), large = re < im ? im : re, small = re < im ? re : im;
    if (!(small > 0)) return large + small;
    constexpr double factor = 0x1p600;
    const double scale = large > 0x1p500 ? 1 / factor : large < 0x1p-450 ? factor : 1;
    const double x = large * scale, y = small * scale;
    return std::sqrt(std::fma(x, x, y * y)) * (scale == 1 ? 1 : 1 / scale);
  } else {
    const auto value = +a;
    return value < 0 ? -value : value;
  }
}

/// Whether an entry is kept: the comparison of all doors. NaN is above every threshold. At a threshold of 0 these are
/// the nonzero entries.
template <class T>
constexpr bool is_above(T a, double threshold) {
  if constexpr (is_complex<T>)  // spares most of the roots
    if (is_above(a.re, threshold) || is_above(a.im, threshold)) return true;
  return !(magnitude(a) <= threshold);
}

/// Whole numbers in the order of magnitude(), NaN after all others.
template <class T>
constexpr auto magnitude_order(T a) {
  const auto size = magnitude(a);
  using Bits = std::conditional_t<sizeof size == 4, std::uint32_t, std::uint64_t>;
  return static_cast<Bits>(std::bit_cast<Bits>(size) & ~Bits(0) >> 1);
}
template <class T>
using MagnitudeOrder = decltype(magnitude_order(T()));

/// The magnitude of that order; infinity for NaN, which leaves no number above it.
constexpr double threshold_at(std::uint32_t order) {
  const auto size = std::bit_cast<float>(order);
  return size == size ? double(size) : std::numeric_limits<double>::infinity();
}
constexpr double threshold_at(std::uint64_t order) {
  const auto size = std::bit_cast<double>(order);
  return size == size ? size : std::numeric_limits<double>::infinity();
}

}  // namespace krill::detail
