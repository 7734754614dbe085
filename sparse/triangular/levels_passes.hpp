// The entry-by-entry parts of a level schedule.
#pragma once
#include <limits>

#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/core/row_sample.hpp"
#include "krill/sparse/triangular/levels.hpp"

namespace krill {

// How CUDA finds depths.

inline constexpr std::int32_t depth_threads = 1024;  ///< of a block, a row each at a time
inline constexpr std::int32_t most_depth_rounds = 16;
/// Entries that rows of a block with more than one round have at most: each is waited for alone.
inline constexpr std::int32_t most_entries_of_wide_blocks = 4;

/// order and places of rows as they stand.
struct AsTheyStand {
  using Sum = NoSum;
  Steps steps;
  std::int32_t *order, *places;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t step) const {
    const std::int32_t row = steps.row(step);
    order[step] = row, places[row] = static_cast<std::int32_t>(step);
    return {};
  }
};

/// Of a sample of rows: how far apart rows and those that they need are, where that is beyond a block of threads.
struct Distances {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int32_t most_entries = 0;  ///< that a row needs
  constexpr Distances& operator+=(Distances other) {
    if (other.least < least) least = other.least;
    if (other.most_entries > most_entries) most_entries = other.most_entries;
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
    const Offset first = row_offsets[row], past = row_offsets[row + 1];
    for (Offset k = first; k < past && found.most_entries <= most_entries_of_wide_blocks; ++k) {
      const std::int64_t distance = steps.step(row) - steps.step(col_indices[k]);
      if (distance > 0) ++found.most_entries;
      if (distance > depth_threads && distance < found.least) found.least = distance;
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

/// What is sorted: the depth and the row of each step.
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

/// places, and where each level begins, from rows sorted by depth.
struct LevelBounds {
  using Sum = NoSum;
  std::int32_t rows, levels;
  const std::int32_t *sorted, *order;
  std::int32_t *places, *offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t place) const {
    places[order[place]] = static_cast<std::int32_t>(place);
    const std::int32_t depth = sorted[place];
    if (place == 0 || sorted[place - 1] != depth) offsets[depth - 1] = static_cast<std::int32_t>(place);
    if (place == 0) offsets[levels] = rows;
    return {};
  }
};

}  // namespace krill
