// The entry-by-entry parts of a level schedule.
#pragma once
#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/triangular/levels.hpp"

namespace krill {

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
