// How candidates for a pivot are compared.
#pragma once
#include <bit>
#include <limits>

#include "sparse/core/types.hpp"

namespace krill::detail {

/// How large a candidate for a pivot is: |re| + |im|. NaN is larger than all numbers, so that it is not passed over.
template <class T>
constexpr real_t<T> pivot_size(T a) {
  using R = real_t<T>;
  R size{};
  if constexpr (is_complex<T>)
    size = (a.re < R(0) ? -a.re : a.re) + (a.im < R(0) ? -a.im : a.im);
  else
    size = a < R(0) ? -a : a;
  return size == size ? size : std::numeric_limits<R>::infinity();
}

/// Whole numbers in the order of pivot_size(), without its comparisons of floating point: bits of the size.
template <class T>
constexpr auto pivot_order(T a) {
  using R = real_t<T>;
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits all_but_sign = ~Bits(0) >> 1;
  const auto bits = [](R r) { return static_cast<Bits>(std::bit_cast<Bits>(r) & all_but_sign); };
  if constexpr (is_complex<T>)
    return bits(std::bit_cast<R>(bits(a.re)) + std::bit_cast<R>(bits(a.im)));
  else
    return bits(a);
}

}  // namespace krill::detail
