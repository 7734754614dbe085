#include "sparse/banded/partition.hpp"

#include <algorithm>

namespace krill::detail {
namespace {

template <int half>
BandPartition divide(const BandLayout& layout, std::size_t entry_bytes) {
  using Tuning = BandPartitionTuning<half>;
  BandPartition p;
  p.half = half;
  std::int32_t rows = layout.rows;
  const std::int32_t threads =
      layout.batch <= Tuning::few_systems ? Tuning::most_threads(entry_bytes) : Tuning::threads;
  // Where systems are interleaved, a block that holds whole ones has to hold enough of them to load whole lines.
  std::int32_t most = layout.is_interleaved() ? threads / std::min(Tuning::min_lanes, layout.batch) : threads;
  for (;;) {
    const BandLevel level{rows, Tuning::chunk(entry_bytes)};
    p.levels[static_cast<std::size_t>(p.depth++)] = level;
    rows = 2 * half * level.chunks();
    if (level.chunks() <= most) break;
    most = threads;
  }
  p.total = p.depth;
  do {
    p.levels[static_cast<std::size_t>(p.total++)] = {rows, Tuning::inner_chunk};
    rows = 2 * half * p.levels[static_cast<std::size_t>(p.total - 1)].chunks();
  } while (rows > 2 * half);
  return p;
}

}  // namespace

BandPartition make_partition(const BandLayout& layout, int diagonals, std::size_t entry_bytes) {
  return diagonals == 3 ? divide<1>(layout, entry_bytes) : divide<2>(layout, entry_bytes);
}

std::int64_t partition_work(const BandPartition& p, std::int64_t batch) {
  std::int64_t rows = 0;
  for (int level = 1; level < p.depth; ++level) rows += p.levels[static_cast<std::size_t>(level)].rows;
  return (4 * p.half + 2) * rows * batch;
}

}  // namespace krill::detail
