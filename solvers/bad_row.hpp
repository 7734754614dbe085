// What a pass finds out about the rows that a method cannot take.
#pragma once
#include <cstdint>
#include <limits>

namespace krill::detail {

/// The first row with a bad value. is_zero: 1 where that is 0, or missing.
struct BadRow {
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  std::int32_t row = none;
  std::int32_t is_zero = 0;
  constexpr BadRow& operator+=(BadRow other) {
    if (other.row < row) *this = other;
    return *this;
  }
};

}  // namespace krill::detail
