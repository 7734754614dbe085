// How products with a dense matrix are divided on a device: tiles, and the columns of a launch.
#pragma once
#include <algorithm>
#include <bit>

#include "sparse/spmv/csr_tiles.hpp"

namespace krill::detail {

/// What a launch takes at a time. Measured on an H200 (docs/performance.md, products with a dense matrix).
struct SpmmTiling {
  static constexpr int threads = 256;
  static constexpr int narrow = 8;          ///< columns that a thread has the sums of
  static constexpr int wide_from = 8;       ///< columns, where lanes may lie along them
  static constexpr int wide_bytes = 256;    ///< of a row of B in a launch: more rows of it stay in the second cache
  static constexpr int gathered_from = 4;   ///< columns, where the rows of a column-major B are brought together
  static constexpr int gathered_mean = 12;  ///< entries of a row that pay for that, on the average
  static constexpr int min_bytes = 4;       ///< of an entry of B that a lane reads alone. Not varied.
  static constexpr int alone = 16;          ///< entries of a row for a lane at most; longer ones are for a warp
  static constexpr int slack = 256;         ///< entries of a row beyond its tile
  static constexpr int max_entries = 2048;  ///< of a tile
  static constexpr int max_blocks = 8192;   ///< that groups of columns of one launch have. Not varied.

  bool wide;      ///< lanes lie along the columns of a row
  bool gathered;  ///< of a copy of B that has them in row-major order
  int columns;    ///< of a launch
  int row_lanes;  ///< that share a row where they do not lie along columns
  CsrTiling tiles;

  /// Whether rows of a row-major B that do not come in whole 16 bytes are brought together, too: lanes that read a byte
  /// or two each would ask for too little at a time.
  static constexpr bool gathers_rows(std::size_t value_bytes) { return value_bytes < min_bytes; }

  /// Groups of columns in one launch: several where the tiles of a matrix alone do not fill the device.
  std::int32_t groups_at_once(std::int64_t tile_count, std::int32_t cols) const {
    if (wide) return 1;
    const std::int64_t all = ceil_div(std::int64_t{cols}, std::int64_t{columns});
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(max_blocks / std::max<std::int64_t>(tile_count, 1), 1, all));
  }

  /// `lines`: rows of B and C can be moved 16 bytes at a time.
  static SpmmTiling of(std::int32_t rows, std::int64_t nnz, std::size_t value_bytes, std::int32_t columns, bool by_rows,
                       bool lines) {
    const std::int64_t mean = std::max<std::int64_t>(nnz / std::max(rows, 1), 1);
    const bool gathered = by_rows ? columns >= wide_from && !lines && gathers_rows(value_bytes)
                                  : columns >= gathered_from && mean >= gathered_mean;
    const bool wide = gathered || (by_rows && columns >= wide_from);
    const int of_a_line = wide_bytes / static_cast<int>(value_bytes);
    const int row_lanes =
        std::min(static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(mean / 8, 1)))), 32);
    // About as many rows in a tile as there are threads, or groups of lanes.
    const std::int64_t wanted = wide ? (columns < of_a_line ? 1024 : 512) : threads / row_lanes * mean;
    const auto entries = static_cast<std::int32_t>(std::clamp<std::int64_t>(wanted, 512, max_entries));
    return {wide,
            gathered,
            wide ? (lines || gathered ? of_a_line : 32) : narrow,
            row_lanes,
            {CsrKernel::lanes, 1, entries, slack}};
  }
};

}  // namespace krill::detail
