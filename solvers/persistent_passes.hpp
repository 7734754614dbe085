// What a persistent kernel does with the rows of a product.
#pragma once
#include "sparse/core/types.hpp"

namespace krill::detail {

/// y = A x and with'y.
template <class T>
struct ProductWithDot {
  using Sum = wide_t<T>;
  const T* with;
  T* y;
  wide_t<T>* dot;

  constexpr Sum put(std::int64_t i, T row) const {
    y[i] = row;
    return conj(wide(with[i])) * wide(row);
  }
  constexpr void finish(const Sum& sum) const { *dot = sum; }
};

template <class T>
struct TwoDots {
  wide_t<T> with{};
  wide_t<T> own{};
  constexpr TwoDots& operator+=(const TwoDots& other) { return with += other.with, own += other.own, *this; }
};

/// y = A x, with'y and y'y.
template <class T>
struct ProductWithTwoDots {
  using Sum = TwoDots<T>;
  const T* with;
  T* y;
  wide_t<T>*dot, *own;

  constexpr Sum put(std::int64_t i, T row) const {
    y[i] = row;
    return {conj(wide(with[i])) * wide(row), conj(wide(row)) * wide(row)};
  }
  constexpr void finish(const Sum& sum) const { *dot = sum.with, *own = sum.own; }
};

}  // namespace krill::detail
