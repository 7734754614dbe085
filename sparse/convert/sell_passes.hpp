// The passes of the conversions to ELL, SELL and HYB.
#pragma once
#include "sparse/convert/structure.hpp"
#include "sparse/formats/hyb.hpp"

namespace krill::detail {

/// keys for sorting rows by length inside windows: the window, and the length or its negative. Over the rows.
template <class Offset>
struct RowSortKeys {
  using Sum = NoSum;
  const Offset* offsets;
  std::int32_t window;
  bool ascending;
  std::int32_t *windows, *keys;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const auto length = static_cast<std::int32_t>(offsets[i + 1] - offsets[i]);
    windows[i] = static_cast<std::int32_t>(i / window);
    keys[i] = ascending ? length : -length;
    return {};
  }
};

/// places[s] = slice_rows times the longest row of slice s. Over the slices.
template <class Offset>
struct SlicePlaces {
  using Sum = NoSum;
  const Offset* offsets;
  std::int32_t rows, slice_rows;
  const std::int32_t* permutation;
  std::int64_t* places;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    Greatest width;
    for (std::int64_t r = s * slice_rows; r < (s + 1) * slice_rows && r < rows; ++r) {
      const std::int64_t row = permutation ? permutation[r] : r;
      width += Greatest{static_cast<std::int64_t>(offsets[row + 1] - offsets[row])};
    }
    places[s] = width.value * slice_rows;
    return {};
  }
};

struct SellFillTuning {
  static constexpr int flight = 8;  ///< entries that are asked for before the first is used. Not varied.
};

/// The places of each stored row of SELL, ELL or HYB's ELL part, as far as they go; over all places for rows, those of
/// rows that are missing in the last slice, too.
template <class T, class Offset>
struct FillSell {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  SellView<const T> to;       ///< without columns and values
  std::int32_t* col_indices;  ///< null: they stand already
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    const auto stored = static_cast<std::int32_t>(s);
    const std::int64_t width = to.width_of(stored);
    std::int64_t at = to.begin(stored), k = 0, end = 0;
    if (s < to.rows) {
      const std::int32_t row = to.row_of(stored);
      k = from.row_offsets[row], end = from.row_offsets[row + 1];
    }
    constexpr int flight = SellFillTuning::flight;
    for (std::int64_t place = 0; place < width; place += flight, k += flight) {
      std::int32_t column[flight] = {};
      T value[flight] = {};
      if (k < end)
        for (int u = 0; u < flight; ++u) {
          const std::int64_t entry = k + u < end ? k + u : end - 1;
          if (col_indices) column[u] = from.col_indices[entry];
          value[u] = from.values[entry];
        }
      for (int u = 0; u < flight && place + u < width; ++u, at += to.slice_rows) {
        if (col_indices) col_indices[at] = k + u < end ? column[u] : SellView<T>::padding_column;
        values[at] = k + u < end ? value[u] : T{};
      }
    }
    return {};
  }
};

/// counts[i] = entries of row i beyond the first `width`. Over the rows.
template <class Offset>
struct CountBeyond {
  using Sum = NoSum;
  const Offset* offsets;
  std::int64_t width;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t length = offsets[i + 1] - offsets[i];
    counts[i] = length > width ? length - width : 0;
    return {};
  }
};

/// The entries of row i beyond the first `width`, in coordinates from starts[i] on. Over the rows.
template <class T, class Offset>
struct FillBeyond {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  std::int64_t width;
  const std::int64_t* starts;
  CooView<T> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    std::int64_t at = starts[i];
    for (std::int64_t k = from.row_offsets[i] + width; k < from.row_offsets[i + 1]; ++k, ++at) {
      to.row_indices[at] = static_cast<std::int32_t>(i);
      to.col_indices[at] = from.col_indices[k];
      to.values[at] = from.values[k];
    }
    return {};
  }
};

/// The entries of HYB's coordinate part again, where the pattern stands. Over them.
template <class T, class Offset>
struct RefillBeyond {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  CooView<const T> pattern;
  std::int64_t width;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    const std::int32_t row = pattern.row(k);
    values[k] = from.values[from.row_offsets[row] + width + (k - pattern.first_entry(row))];
    return {};
  }
};

/// Krill's own padding and base in the places of a stored row. Over all places for rows.
template <class T>
struct AdoptPadding {
  using Sum = NoSum;
  SellView<T> a;
  Padding padding;
  const std::int32_t* row_lengths;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    const auto stored = static_cast<std::int32_t>(s);
    const std::int64_t length = s < a.rows ? length_of(stored) : 0;
    std::int64_t at = a.begin(stored);
    for (std::int64_t k = 0; k < a.width_of(stored); ++k, at += a.slice_rows) {
      if (k < length) {
        a.col_indices[at] -= static_cast<std::int32_t>(a.base);
      } else {
        a.col_indices[at] = SellView<T>::padding_column;
        a.values[at] = T{};
      }
    }
    return {};
  }

 private:
  constexpr std::int64_t length_of(std::int32_t s) const {
    if (row_lengths) return row_lengths[s];
    const auto base = static_cast<std::int32_t>(a.base);
    std::int64_t length = a.width_of(s);
    const auto place = [&](std::int64_t k) { return a.begin(s) + k * a.slice_rows; };
    for (; length > 0; --length) {
      const std::int64_t at = place(length - 1);
      const std::int32_t before = length > 1 ? a.col_indices[place(length - 2)] : base;
      const bool is_padding = padding == Padding::minus_one     ? a.col_indices[at] < base
                              : padding == Padding::last_column ? a.col_indices[at] == before && a.values[at] == T{}
                                                                : a.col_indices[at] == base && a.values[at] == T{};
      if (!is_padding) break;
    }
    return length;
  }
};

}  // namespace krill::detail
