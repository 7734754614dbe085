// Which row an entry belongs to.
#pragma once
#include <cstdint>

namespace krill::detail {

/// The row of entry k, counted from zero, by bisection of the offsets; rows may be empty, and the offsets may count
/// from anything. (std::upper_bound finds other rows where nvcc 13.0 compiles it for a device.)
template <class Offset>
constexpr std::int32_t row_of_entry(const Offset* row_offsets, std::int32_t rows, std::int64_t k) {
  std::int32_t low = 0, high = rows;  // row_offsets[low] - row_offsets[0] <= k < row_offsets[high] - row_offsets[0]
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (row_offsets[middle] - row_offsets[0] <= k ? low : high) = middle;
  }
  return low;
}

}  // namespace krill::detail
