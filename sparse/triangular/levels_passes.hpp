// The entry-by-entry parts of a level schedule.
#pragma once
#include <limits>

#include "sparse/convert/structure.hpp"
#include "sparse/core/row_sample.hpp"
#include "sparse/triangular/levels.hpp"

namespace krill::detail {

/// How CUDA finds depths. Several rounds of rows a block took 256^3 from 11.5 to 1.0 ms on an H200, and 4096^2 from 35
/// to 3.6; where they do not suit a matrix they cost much, so they need short rows (docs/performance.md, triangular
/// solves).
struct LevelsTuning {
  static constexpr std::int32_t threads = 1024;  ///< of a block, a row each at a time. Not varied.
  static constexpr std::int32_t max_rounds = 16;
  static constexpr std::int32_t max_entries = 4;  ///< of rows in blocks of several rounds: each is waited for alone
};
inline constexpr std::int32_t depth_threads = LevelsTuning::threads;

/// The order of rows as they stand, and its inverse.
struct AsTheyStand {
  using Sum = NoSum;
  Steps steps;
  std::int32_t *order, *inverse;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t step) const {
    const std::int32_t row = steps.row(step);
    order[step] = row, inverse[row] = static_cast<std::int32_t>(step);
    return {};
  }
};

/// Of a sample of rows: the least distance, beyond a block of threads, between a row and a row that it needs.
struct Distances {
  std::int64_t min = std::numeric_limits<std::int64_t>::max();
  std::int32_t max_entries = 0;  ///< that a row needs
  constexpr Distances& operator+=(Distances other) {
    if (other.min < min) min = other.min;
    if (other.max_entries > max_entries) max_entries = other.max_entries;
    return *this;
  }
};

/// Over the rows of the sample.
template <class Offset>
struct MeasureDistances {
  using Sum = Distances;
  Steps steps;
  RowSample sample;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  Distances* distances;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(sample.row(i));
    Distances found;
    const Offset first = row_offsets[row], end = row_offsets[row + 1];
    for (Offset k = first; k < end && found.max_entries <= LevelsTuning::max_entries; ++k) {
      const std::int64_t distance = steps.step(row) - steps.step(col_indices[k]);
      if (distance > 0) ++found.max_entries;
      if (distance > depth_threads && distance < found.min) found.min = distance;
    }
    return found;
  }
  constexpr void finish(const Sum& sum) const { *distances = sum; }
};

/// The deepest row.
struct Deepest {
  using Sum = Greatest;
  const std::int32_t* depths;
  Greatest* greatest;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const { return {depths[i]}; }
  constexpr void finish(const Sum& sum) const { *greatest = sum; }
};

/// The depth and the row of each step, as keys and values of the sort. Over the steps.
struct DepthOfStep {
  using Sum = NoSum;
  Steps steps;
  const std::int32_t* depths;
  std::int32_t *keys, *rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t step) const {
    const std::int32_t row = steps.row(step);
    keys[step] = depths[row], rows[step] = row;
    return {};
  }
};

/// The inverse of the order, and where each level begins, from rows sorted by depth.
struct LevelBounds {
  using Sum = NoSum;
  std::int32_t rows, levels;
  const std::int32_t *sorted, *order;
  std::int32_t *inverse, *offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t place) const {
    inverse[order[place]] = static_cast<std::int32_t>(place);
    const std::int32_t depth = sorted[place];
    if (place == 0 || sorted[place - 1] != depth) offsets[depth - 1] = static_cast<std::int32_t>(place);
    if (place == 0) offsets[levels] = rows;
    return {};
  }
};

/// What is compiled for each backend.
template <class Where>
struct LevelPasses {
  static constexpr auto list =
      passes<Where, MeasureDistances<std::int32_t>, MeasureDistances<std::int64_t>, AsTheyStand, Deepest, LevelBounds>;
  template <class Offset>
  using Depths = void(const Where&, const Steps&, const Offset*, const std::int32_t*, std::int32_t*, std::int32_t);
  static constexpr std::tuple kernels{instance<Depths<std::int32_t>>(find_depths),
                                      instance<Depths<std::int64_t>>(find_depths)};
};

}  // namespace krill::detail
