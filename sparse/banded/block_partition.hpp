// How CUDA divides block tridiagonal systems into chunks of block rows where there are few of them.
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "sparse/formats/block_tridiagonal.hpp"

namespace krill::detail {

/// Not varied: from the bytes of a block row and the time that one waits for the row before it.
struct BlockPartitionTuning {
  static constexpr std::int64_t enough_threads = 24'576;  ///< of systems that are not divided: 186 a multiprocessor
  static constexpr std::int64_t threads = 65'536;         ///< that divided systems are to have, at most
  static constexpr std::int32_t min_chunk = 8;            ///< so that few rows are left over
  static constexpr std::int32_t undivided_rows = 32;
};

/// Threads of a warp that share a block row.
constexpr int lanes_of_blocks(int size) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(size))); }

/// Block rows of a system in chunks. The last row of a chunk is left over, all of which are a system of their own.
struct BlockDivision {
  std::int32_t rows = 0, chunk = 0;

  constexpr std::int32_t chunks() const { return static_cast<std::int32_t>(ceil_div(rows, chunk)); }
  constexpr std::int32_t first(std::int32_t c) const { return c * chunk; }
  constexpr std::int32_t left_over(std::int32_t c) const {
    const std::int64_t end = (std::int64_t{c} + 1) * chunk;
    return static_cast<std::int32_t>((end < rows ? end : rows) - 1);
  }
};

/// Level 0 has the given systems, each next one what the chunks before leave over; the last one is not divided.
struct BlockPartition {
  static constexpr int max_levels = 12;
  int last = 0;
  std::array<BlockDivision, max_levels> levels{};

  /// Row i of a level as a row of the given system.
  constexpr std::int32_t given_row(int level, std::int32_t i) const {
    while (level-- > 0) i = levels[static_cast<std::size_t>(level)].left_over(i);
    return i;
  }
};

inline BlockPartition make_block_partition(bool on_cuda, std::int32_t rows, std::int32_t batch, int size) {
  using Tuning = BlockPartitionTuning;
  BlockPartition p;
  const std::int64_t threads = std::int64_t{batch} * lanes_of_blocks(size);
  const bool divides = on_cuda && threads < Tuning::enough_threads;
  for (; divides && rows > Tuning::undivided_rows; ++p.last) {
    BlockDivision& level = p.levels[static_cast<std::size_t>(p.last)];
    const std::int64_t chunk = ceil_div(rows * threads, Tuning::threads);
    level = {rows, static_cast<std::int32_t>(std::max<std::int64_t>(chunk, Tuning::min_chunk))};
    rows = level.chunks();
  }
  p.levels[static_cast<std::size_t>(p.last)] = {rows, rows};
  return p;
}

}  // namespace krill::detail
