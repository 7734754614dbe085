// How many threads share a row on CUDA.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace krill::detail {

/// How rows are divided among threads. Not varied, but for max_entries.
struct RowPassTuning {
  static constexpr std::int64_t long_row = 256;  ///< entries from which a whole warp has a row
  static constexpr int max_entries = 8;          ///< of a mean row to a lane
};

/// A power of two, up to a warp.
inline int lanes_of_rows(std::int64_t nnz, std::int64_t rows, int entries_a_lane = RowPassTuning::max_entries) {
  const std::int64_t mean = nnz / std::max<std::int64_t>(rows, 1);
  return static_cast<int>(
      std::clamp<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(mean / entries_a_lane)), 1, 32));
}

}  // namespace krill::detail
