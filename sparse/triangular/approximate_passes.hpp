// The entry-by-entry parts of approximate triangular solves.
#pragma once
#include "sparse/triangular/triangular_passes.hpp"

namespace krill::detail {

/// The rows of a triangle as parts of the rows of its matrix.
template <class T, class Offset>
struct TriangleRows {
  CsrView<const T, Offset> a;
  Fill fill;
  const Offset* nears;  // of each row, where its entries from the diagonal on begin

  constexpr bool has_diagonal(std::int64_t i) const {
    return nears[i] < a.row_offsets[i + 1] && a.col_indices[nears[i]] == i;
  }
  /// Entries beside the diagonal.
  constexpr Offset begin(std::int64_t i) const {
    return fill == Fill::lower ? a.row_offsets[i] : nears[i] + (has_diagonal(i) ? 1 : 0);
  }
  constexpr Offset end(std::int64_t i) const { return fill == Fill::lower ? nears[i] : a.row_offsets[i + 1]; }
};

/// The position of each diagonal, and the number of entries of each row, with the diagonal if wanted. Over the rows.
template <class Offset>
struct CountTriangle {
  using Sum = TriangleCount;
  CsrView<const NoValue, Offset> a;
  Fill fill;
  bool with_diagonal;
  Offset *nears, *counts;
  TriangleCount* count;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    nears[i] = lower_entry(a, i, i);
    const TriangleRows<NoValue, Offset> rows{a, fill, nears};
    const auto beside = static_cast<std::int32_t>(rows.end(i) - rows.begin(i));
    counts[i] = beside + (with_diagonal ? 1 : 0);
    return {beside, rows.has_diagonal(i) ? no_row : static_cast<std::int32_t>(i), beside};
  }
  constexpr void finish(const Sum& sum) const { *count = sum; }
};

/// The columns of the triangle as a matrix of its own. Over the rows.
template <class Offset>
struct TriangleColumns {
  using Sum = NoSum;
  TriangleRows<NoValue, Offset> rows;
  bool with_diagonal;
  const Offset* offsets;
  std::int32_t* columns;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset to = offsets[i];
    if (with_diagonal && rows.fill == Fill::upper) columns[to++] = static_cast<std::int32_t>(i);
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) columns[to++] = rows.a.col_indices[k];
    if (with_diagonal && rows.fill == Fill::lower) columns[to] = static_cast<std::int32_t>(i);
    return {};
  }
};

/// The inverses of the diagonal, and the first row whose diagonal is zero. Over the rows.
template <class T, class Offset>
struct InvertTriangleDiagonal {
  using Sum = FirstRow;
  TriangleRows<T, Offset> rows;
  T* inverses;
  FirstRow* zero;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const bool has = rows.has_diagonal(i);
    const T diagonal = has ? rows.a.values[rows.nears[i]] : T{};
    inverses[i] = T(1) / diagonal;
    return {has && diagonal == T{} ? static_cast<std::int32_t>(i) : no_row};
  }
  constexpr void finish(const Sum& sum) const { *zero = sum; }
};

/// The triangle's values: either those beside the diagonal, each times the inverse diagonal of its row or of its
/// column; or all, with the diagonal. Over the rows.
enum class TriangleScaling { by_rows, by_columns, with_diagonal };
template <class T, class Offset>
struct TriangleValues {
  using Sum = NoSum;
  TriangleRows<T, Offset> rows;
  TriangleScaling scaling;
  bool unit;
  const T* inverses;  // null: ones
  const Offset* offsets;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr T diagonal(std::int64_t i) const {
    if (unit) return T(1);
    return rows.has_diagonal(i) ? rows.a.values[rows.nears[i]] : T{};
  }
  constexpr NoSum entry(std::int64_t i) const {
    const bool with_diagonal = scaling == TriangleScaling::with_diagonal;
    Offset to = offsets[i];
    if (with_diagonal && rows.fill == Fill::upper) values[to++] = diagonal(i);
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) {
      const T value = rows.a.values[k];
      const std::int64_t at = scaling == TriangleScaling::by_rows ? i : rows.a.col_indices[k];
      values[to++] = with_diagonal || !inverses ? value : value * inverses[at];
    }
    if (with_diagonal && rows.fill == Fill::lower) values[to] = diagonal(i);
    return {};
  }
};

/// Row m of M, which solves (M T)_mj = delta_mj for the columns j of the row: backward through the row from its
/// diagonal, with the rows of T for those columns. Over the rows.
template <class T, class Offset>
struct ApproximateInverse {
  using Sum = NoSum;
  TriangleRows<T, Offset> rows;
  const T* inverses;  // of the diagonal; null: ones
  const Offset* offsets;
  const std::int32_t* columns;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t m) const {
    const bool lower = rows.fill == Fill::lower;
    const Offset first = offsets[m], end = offsets[m + 1];
    for (Offset at = first; at < end; ++at) values[at] = columns[at] == m ? T(1) : T{};
    for (Offset step = 0; step < end - first; ++step) {
      const Offset done = lower ? end - 1 - step : first + step;
      const std::int32_t row = columns[done];
      const T factor = values[done] = inverses ? values[done] * inverses[row] : values[done];
      Offset k = rows.begin(row), at = lower ? first : done + 1;
      const Offset k_end = rows.end(row), at_end = lower ? done : end;
      while (k < k_end && at < at_end) {
        const std::int32_t theirs = rows.a.col_indices[k], mine = columns[at];
        if (theirs == mine)
          values[at++] -= factor * rows.a.values[k++];
        else if (theirs < mine)
          k = next_entry(rows.a.col_indices, k + 1, k_end, mine);
        else
          at = next_entry(columns, at + 1, at_end, theirs);
      }
    }
    return {};
  }
};

/// out = alpha op(D)^-1 b.
template <class T>
struct ScaleByDiagonal {
  using Sum = NoSum;
  ScalarView<T> alpha;
  const T* inverses;  // null: ones
  bool conjugate;
  const T* b;
  T* out;
  T factor{};

  constexpr bool begin() { return factor = alpha(), true; }
  constexpr NoSum entry(std::int64_t i) const {
    const T value = factor * b[i];
    out[i] = inverses ? value * conj_if(conjugate, inverses[i]) : value;
    return {};
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ApproximatePasses {
  static constexpr auto list =
      passes<Where, CountTriangle<Offset>, TriangleColumns<Offset>, ScaleByDiagonal<T>,
             InvertTriangleDiagonal<T, Offset>, TriangleValues<T, Offset>, ApproximateInverse<T, Offset>>;
};

}  // namespace krill::detail
