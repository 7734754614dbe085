// What banded matrices are asked row by row, and solves with one row.
#pragma once
#include "sparse/banded/elimination.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// The first rows that are not diagonally dominant within their system, and whose diagonal entry is not positive, by
/// their place in the bands' layout without padding.
struct WeakRows {
  FirstRow not_dominant, not_positive;
  constexpr WeakRows& operator+=(const WeakRows& other) {
    return not_dominant += other.not_dominant, not_positive += other.not_positive, *this;
  }
};

/// Over the rows of all systems. Moduli are those of pivots, up to a factor that a row may be dominant by and is not
/// called so.
template <class T>
struct FindWeakRows {
  using Sum = WeakRows;
  BandedView<const T> a;
  WeakRows* result;

  static constexpr real_t<T> greater_part(const T& value) {
    if constexpr (is_complex<T>) {
      const real_t<T> re = value.re < 0 ? -value.re : value.re, im = value.im < 0 ? -value.im : value.im;
      return re > im ? re : im;
    } else {
      return value < 0 ? -value : value;
    }
  }
  static constexpr real_t<T> real_part(const T& value) {
    if constexpr (is_complex<T>)
      return value.re;
    else
      return value;
  }

  constexpr bool begin() const { return true; }
  constexpr WeakRows entry(std::int64_t p) const {
    const BandLayout& l = a.layout;
    const bool across = l.is_interleaved();
    const std::int64_t width = across ? l.batch : l.rows, far = p / width, near = p % width;
    const std::int64_t i = across ? far : near, place = l.at(i, across ? near : far);
    const T* const bands[5] = {a.ds, a.dl, a.d, a.du, a.dw};
    real_t<T> others{};
    for (int k = -2; k <= 2; ++k)
      if (k != 0 && bands[k + 2] && i + k >= 0 && i + k < l.rows) others += pivot_size(bands[k + 2][place]);
    const auto row = static_cast<std::int32_t>(p);
    WeakRows weak;
    if (!(greater_part(a.d[place]) >= others)) weak.not_dominant.row = row;
    if (!(real_part(a.d[place]) > 0)) weak.not_positive.row = row;
    return weak;
  }
  constexpr void finish(const WeakRows& weak) const { *result = weak; }
};

/// Over the systems: x = b / d, of systems of one row.
template <class T>
struct DivideByDiagonal {
  using Sum = NoSum;
  BandLayout matrices, vectors;
  const T* d;
  bool conjugated;
  const T* b;
  T* x;
  std::int32_t* zero_rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t j) const {
    const T pivot = conj_if(conjugated, d[matrices.at(0, j)]);
    const std::int64_t place = vectors.at(0, j);
    x[place] = b[place] * (T(1) / pivot);
    zero_rows[j] = no_pivot(pivot) ? 0 : no_row;
    return {};
  }
};

template <class Value, class Where, class T = kernel_t<Value>>
struct BandRowPasses {
  static constexpr auto list = passes<Where, FindWeakRows<T>, DivideByDiagonal<T>>;
};

}  // namespace krill::detail
