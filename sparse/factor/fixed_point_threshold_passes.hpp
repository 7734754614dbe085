// Steps of a cycle in which a factor by sweeps gets another pattern.
#pragma once
#include <bit>
#include <cmath>
#include <limits>

#include "sparse/convert/magnitude.hpp"
#include "sparse/factor/incomplete_passes.hpp"

namespace krill::detail {

/// L with its diagonal of ones, and U, each with a whole diagonal, of the matrix that holds both. Over the rows.
template <class T, class Offset>
struct SplitFactor {
  using Sum = NoSum;
  CsrView<const T, Offset> factor;
  const Offset* left;  ///< row offsets of L
  std::int32_t* l_cols;
  T* l_values;
  Offset* right;  ///< row offsets of U
  std::int32_t* u_cols;
  T* u_values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset l = left[i], u = static_cast<Offset>(factor.row_offsets[i] - l + i);  // i diagonals stand in both
    if (i == 0) right[0] = 0;
    for (Offset k = factor.row_offsets[i]; k < factor.row_offsets[i + 1]; ++k) {
      const std::int32_t j = factor.col_indices[k];
      const T value = factor.values[k];
      if (j <= i) l_cols[l] = j, l_values[l++] = j == i ? T(1) : value;
      if (j >= i) u_cols[u] = j, u_values[u++] = value;
    }
    right[i + 1] = u;
    return {};
  }
};

/// 1 for entries up to the diagonal, 0 for others. Over the rows.
template <class Offset>
struct MarkLower {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  double* marks;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) marks[k] = a.col_indices[k] <= i ? 1 : 0;
    return {};
  }
};

/// A factor in a wider pattern: its own values, elsewhere what makes the residual vanish there while all else stays.
/// Over the rows.
template <class T, class Offset>
struct WidenFactor {
  using Sum = NoSum;
  CsrView<const T, Offset> factor;
  const Offset* diagonals;            ///< of the factor
  CsrView<const T, Offset> residual;  ///< A - L U, in the wider pattern
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset own = factor.row_offsets[i];
    for (Offset k = residual.row_offsets[i]; k < residual.row_offsets[i + 1]; ++k) {
      const std::int32_t j = residual.col_indices[k];
      if (own < factor.row_offsets[i + 1] && factor.col_indices[own] == j) {
        to[k] = factor.values[own++];
      } else {
        const T pivot = j < i ? factor.values[diagonals[j]] : T(1);
        to[k] = pivot == T{} ? residual.values[k] : residual.values[k] / pivot;
      }
    }
    return {};
  }
};

/// How large entries of a factor are where a scaling from both sides makes the pivots ones; infinite on the diagonal.
/// Over the rows.
template <class T, class Offset>
struct MeasureEntries {
  using Sum = NoSum;
  static constexpr double whole = std::numeric_limits<double>::infinity(), largest = 0x1p1000;
  static constexpr int dropped_bits = 42;  // of 52: so rounding in double or float moves few sizes. Not varied.
  CsrView<const T, Offset> factor;
  const Offset* diagonals;
  bool cholesky;
  double* sizes;

  constexpr double pivot(std::int32_t j) const { return magnitude(factor.values[diagonals[j]]); }
  static constexpr double coarse(double size) {
    if (!(size < largest)) return largest;  // NaN, too
    constexpr std::uint64_t unit = std::uint64_t{1} << dropped_bits;
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(size) + unit / 2) & ~(unit - 1));
  }

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    const auto i = static_cast<std::int32_t>(row);
    const double mine = pivot(i), root = std::sqrt(mine);
    for (Offset k = factor.row_offsets[i]; k < factor.row_offsets[i + 1]; ++k) {
      const std::int32_t j = factor.col_indices[k];
      const double size = magnitude(factor.values[k]);
      if (j == i)
        sizes[k] = whole;
      else if (cholesky)
        sizes[k] = coarse(size / mine);
      else
        sizes[k] = coarse(j < i ? size * std::sqrt(pivot(j)) / root : size / root / std::sqrt(pivot(j)));
    }
    return {};
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct GrowthPasses {
  static constexpr auto list =
      passes<Where, SplitFactor<T, Offset>, MarkLower<Offset>, WidenFactor<T, Offset>, MeasureEntries<T, Offset>>;
};

}  // namespace krill::detail
