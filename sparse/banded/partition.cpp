#include "sparse/banded/partition.hpp"

#include <algorithm>

namespace krill::detail {
namespace {

/// As many chunks of at most `most` rows as it takes, all of about the same size, which is even.
BandLevel divided(std::int32_t rows, std::int32_t most) {
  const std::int32_t chunks = (rows - 1) / most + 1, chunk = (rows - 1) / chunks + 1;
  return {rows, chunk + chunk % 2};
}

}  // namespace

BandPartition make_partition(const BandLayout& layout, std::size_t entry_bytes) {
  using Tuning = BandPartitionTuning;
  BandPartition p;
  std::int32_t rows = layout.rows;
  const auto chunk = static_cast<std::int32_t>(Tuning::chunk_bytes / entry_bytes);
  // Where systems are interleaved, a block that holds whole ones has to hold enough of them to load whole lines.
  std::int32_t most =
      layout.is_interleaved() ? Tuning::threads / std::min(Tuning::min_lanes, layout.batch) : Tuning::threads;
  for (;;) {
    const BandLevel level = divided(rows, chunk);
    p.levels[static_cast<std::size_t>(p.depth++)] = level;
    rows = 2 * level.chunks();
    if (level.chunks() <= most) break;
    most = Tuning::threads;
  }
  p.total = p.depth;
  do {
    p.levels[static_cast<std::size_t>(p.total++)] = {rows, Tuning::inner_chunk};
    rows = 2 * p.levels[static_cast<std::size_t>(p.total - 1)].chunks();
  } while (rows > 2);
  return p;
}

std::int64_t partition_work(const BandPartition& p, std::int64_t batch) {
  std::int64_t rows = 0;
  for (int level = 1; level < p.depth; ++level) rows += p.levels[static_cast<std::size_t>(level)].rows;
  return 6 * rows * batch;
}

}  // namespace krill::detail
