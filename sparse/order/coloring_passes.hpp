// The entry-by-entry parts of a coloring.
#pragma once
#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/core/row_sample.hpp"
#include "krill/sparse/io/counter_random.hpp"
#include "krill/sparse/order/coloring.hpp"

namespace krill {

/// The entries of one triangle less those of the other, each as a hash of its two indices: zero where the pattern is
/// symmetric, and else, but for a chance of 2^-64, another number.
struct Asymmetry {
  using Sum = std::uint64_t;
  const std::int32_t *rows, *cols;
  std::uint64_t* difference;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const {
    const std::int32_t row = rows[k], col = cols[k];
    constexpr CounterRandom hash(1, 1);
    if (row == col) return 0;
    return row < col ? hash.bits(row, col) : -hash.bits(col, row);
  }
  constexpr void finish(const Sum& sum) const { *difference = sum; }
};

/// How far the farthest neighbor before a row lies before it.
template <class Offset>
struct FarthestBefore {
  using Sum = Greatest;
  Neighbors<Offset> neighbors;
  RowSample sample;
  Greatest* farthest;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const std::int64_t row = sample.row(i);
    std::int64_t far = 0;
    for (int side = 0; side < 2; ++side)
      if (const Offset* offsets = neighbors.row_offsets[side]; offsets && offsets[row] < offsets[row + 1])
        if (const std::int64_t distance = row - neighbors.col_indices[side][offsets[row]]; distance > far)
          far = distance;
    return {far};
  }
  constexpr void finish(const Sum& sum) const { *farthest = sum; }
};

/// By how much the nearest of the neighbors that lie more than half as far before their rows as the farthest is nearer
/// than that. On a grid those are the neighbors in the line or plane before, and the middle between is its stride.
template <class Offset>
struct SpreadOfFar {
  using Sum = Greatest;
  Neighbors<Offset> neighbors;
  RowSample sample;
  const Greatest* farthest;
  Greatest* spread;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const std::int64_t row = sample.row(i), far = farthest->value;
    std::int64_t wide = 0;
    for (int side = 0; side < 2; ++side) {
      const Offset* offsets = neighbors.row_offsets[side];
      if (!offsets) continue;
      Offset k = offsets[row];
      const Offset end =
          offsets[row + 1] - k < longest_short_row ? offsets[row + 1] : k + static_cast<Offset>(longest_short_row);
      for (; k < end; ++k) {
        const std::int64_t distance = row - neighbors.col_indices[side][k];
        if (2 * distance <= far) break;
        if (far - distance > wide) wide = far - distance;
      }
    }
    return {wide};
  }
  constexpr void finish(const Sum& sum) const { *spread = sum; }
};

/// The words of rows without a color; how many rows are long.
template <class Offset>
struct MarkLong {
  using Sum = std::int64_t;
  Neighbors<Offset> neighbors;
  std::int32_t* colors;
  std::int64_t* count;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t row) const {
    const bool is_long = neighbors.entries(row) > longest_short_row;
    colors[row] = is_long ? awaited_color : 0;
    return is_long;
  }
  constexpr void finish(const Sum& sum) const { *count = sum; }
};

/// flags[step] = 1 where its row is long.
struct FlagLong {
  using Sum = NoSum;
  ColorSequence sequence;
  const std::int32_t* colors;
  std::int32_t* flags;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t step) const {
    const std::int32_t row = sequence.row(step);
    flags[step] = row >= 0 && colors[row] == awaited_color;
    return {};
  }
};

/// The long rows, in the order of steps.
struct ListLong {
  using Sum = NoSum;
  ColorSequence sequence;
  const std::int32_t* offsets;  // of the flags
  std::int32_t* list;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t step) const {
    if (offsets[step] < offsets[step + 1]) list[offsets[step]] = sequence.row(step);
    return {};
  }
};

/// The colors that are handed out: from 0 on, and one for each row from the place `kept` on.
struct NumberColors {
  using Sum = NoSum;
  std::int32_t kept, classes;  // places and colors that are kept
  const std::int32_t *sorted, *order;
  std::int32_t* colors;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t place) const {
    colors[order[place]] = place < kept ? sorted[place] - 1 : classes + static_cast<std::int32_t>(place) - kept;
    return {};
  }
};

}  // namespace krill
