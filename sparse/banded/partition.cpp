#include "sparse/banded/partition.hpp"

#include <algorithm>

namespace krill::detail {
namespace {

/// As many chunks of at most `most` rows as it takes, all of about the same size, of groups of 2 half rows.
BandLevel divided(std::int32_t rows, std::int32_t most, int half) {
  const std::int32_t chunks = (rows - 1) / most + 1, chunk = (rows - 1) / chunks + 1, group = 2 * half;
  return {rows, (chunk + group - 1) / group * group};
}

template <int half>
BandPartition divide(const BandLayout& layout, std::size_t entry_bytes) {
  using Tuning = BandPartitionTuning<half>;
  BandPartition p;
  p.half = half;
  std::int32_t rows = layout.rows;
  const auto chunk = std::max<std::int32_t>(4 * half, static_cast<std::int32_t>(Tuning::chunk_bytes / entry_bytes));
  // Where systems are interleaved, a block that holds whole ones has to hold enough of them to load whole lines.
  std::int32_t most =
      layout.is_interleaved() ? Tuning::threads / std::min(Tuning::min_lanes, layout.batch) : Tuning::threads;
  for (;;) {
    const BandLevel level = divided(rows, chunk, half);
    p.levels[static_cast<std::size_t>(p.depth++)] = level;
    rows = 2 * half * level.chunks();
    if (level.chunks() <= most) break;
    most = Tuning::threads;
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
