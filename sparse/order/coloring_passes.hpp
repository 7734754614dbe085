// The entry-by-entry parts of a coloring.
#pragma once
#include "sparse/convert/structure.hpp"
#include "sparse/core/counter_random.hpp"
#include "sparse/core/row_sample.hpp"
#include "sparse/order/coloring.hpp"

namespace krill::detail {

/// The sum of a hash of (i, j) over the entries of one triangle, minus that of (j, i) over the other's. It is zero if
/// the pattern is symmetric; if not, it is another number, but for a chance of 2^-64.
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

/// The greatest distance between a row and a neighbor before it.
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

/// Of the neighbors that lie more than half the greatest distance before their rows: the greatest distance minus the
/// least of theirs. On a grid these are the neighbors in the line or plane before, and the middle of their distances is
/// the stride of the grid.
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

/// The final colors, from 0 on: rows before the place `kept` keep their class, each other row gets a color of its own.
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

/// What is compiled for each backend.
template <class Offset, class Where>
struct ColoringPasses {
  static constexpr auto list = passes<Where, Asymmetry, FarthestBefore<Offset>, SpreadOfFar<Offset>, MarkLong<Offset>,
                                      FlagLong, ListLong, NumberColors>;
  static constexpr auto kernel = instance<void(const Where&, const Neighbors<Offset>&, const ColorSequence&,
                                               std::int32_t, const std::int32_t*, std::int32_t*)>(greedy_colors);
};

}  // namespace krill::detail
