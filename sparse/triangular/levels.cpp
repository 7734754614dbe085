#include "sparse/triangular/levels.hpp"

#include <algorithm>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/triangular/levels_passes.hpp"

namespace krill {

using namespace detail;
namespace {

/// How many rounds of rows a block of threads may have on CUDA. Blocks that hold many rows hand on less through L2: on
/// a grid of 256^3 levels are found in 1.0 ms, with a round a block in 8.5. But a row must not wait for one of an
/// earlier round that itself waits for most of the block: on 4096^2, with blocks of two lines, they take 110 ms in
/// place of 3.6. So a block ends before the nearest rows that are farther than a round.
template <class Offset>
std::int32_t rounds_of_blocks(Context& ctx, const Steps& steps, const Array<Offset>& row_offsets,
                              const Array<std::int32_t>& col_indices) {
  if (!ctx.on_cuda() || steps.rows == 0) return 1;
  Array<Distances> distances(1, "distances of rows");
  const RowSample sample{steps.rows};
  ctx.dispatch([&](const auto& where) {
    run_pass(where, sample.size(),
             MeasureDistances<Offset>{steps, sample, row_offsets.read(where), col_indices.read(where),
                                      distances.write(where)});
  });
  const Distances& found = distances.host()[0];
  const bool none_far = found.min > steps.rows;
  if (none_far || found.max_entries > LevelsTuning::max_entries) return 1;
  return static_cast<std::int32_t>(std::min<std::int64_t>(found.min / depth_threads, LevelsTuning::max_rounds));
}

}  // namespace

LevelSchedule::LevelSchedule(Context& ctx, std::int32_t rows, Fill fill)
    : fill_(fill), order_(rows, "level order"), inverse_(rows, "inverse level order"), offsets_(0, "level offsets") {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, AsTheyStand{{rows, fill}, order_.write(where), inverse_.write(where)});
  });
}

template <class Offset>
LevelSchedule::LevelSchedule(Context& ctx, const Array<Offset>& row_offsets, const Array<std::int32_t>& col_indices,
                             Fill fill)
    : fill_(fill),
      order_(row_offsets.size() - 1, "level order"),
      inverse_(row_offsets.size() - 1, "inverse level order"),
      offsets_(0, "level offsets") {
  const Steps steps{rows(), fill};
  Array<std::int32_t> depths(rows(), "depths"), sorted(rows(), "sorted depths");
  Array<Greatest> deepest(1, "deepest row");
  const std::int32_t rounds = rounds_of_blocks(ctx, steps, row_offsets, col_indices);
  ctx.dispatch([&](const auto& where) {
    find_depths(where, steps, row_offsets.read(where), col_indices.read(where), depths.write(where), rounds);
    run_pass(where, rows(), Deepest{depths.read(where), deepest.write(where)});
  });
  levels_ = static_cast<std::int32_t>(deepest.host()[0].value);
  offsets_ = Array<std::int32_t>(levels_ + std::int64_t{1}, "level offsets");
  if (rows() == 0) {
    offsets_.edit()[0] = 0;
    return;
  }
  ctx.dispatch([&](const auto& where) {
    sort_by_depth(where, steps, levels_, depths.read(where), sorted.write(where), order_.write(where));
    run_pass(where, rows(),
             LevelBounds{rows(), levels_, sorted.read(where), order_.read(where), inverse_.write(where),
                         offsets_.write(where)});
  });
}

LevelSchedule LevelSchedule::copy(Context& ctx) const {
  LevelSchedule other(fill_);
  other.levels_ = levels_;
  other.order_ = copy_of(ctx, order_), other.inverse_ = copy_of(ctx, inverse_), other.offsets_ = copy_of(ctx, offsets_);
  return other;
}

HeldMemory LevelSchedule::memory(MemoryLedger& ledger) const {
  HeldMemory kept = ledger.hold<std::int32_t>(rows());
  kept += ledger.hold<std::int32_t>(rows());
  if (!has_levels()) return kept;
  const HeldMemory depths = ledger.hold<std::int32_t>(rows()), sorted = ledger.hold<std::int32_t>(rows());
  sort_by_depth_scratch(ledger, rows(), levels());
  kept += ledger.hold<std::int32_t>(levels() + std::int64_t{1});
  return kept;
}

HeldMemory LevelSchedule::memory_of_copy(MemoryLedger& ledger) const {
  HeldMemory kept = ledger.hold<std::int32_t>(rows());
  kept += ledger.hold<std::int32_t>(rows());
  kept += ledger.hold<std::int32_t>(levels() + std::int64_t{1});
  return kept;
}

// On the host a place where each depth begins; on CUDA depths and rows, which a radix sort takes.
void detail::sort_by_depth_scratch(MemoryLedger& ledger, std::int32_t rows, std::int32_t deepest) {
  const std::size_t each = static_cast<std::size_t>(rows) * sizeof(std::int32_t);
  if (ledger.on_cuda())
    ledger.scratch({each, each, radix_sort_scratch(rows, deepest + std::int64_t{1}, sizeof(std::int32_t))});
  else
    ledger.scratch({(static_cast<std::size_t>(deepest) + 2) * sizeof(std::int32_t)});
}

std::int32_t LevelSchedule::widest() const {
  const auto offsets = offsets_.host();
  std::int32_t most = 0;
  for (std::size_t l = 0; l + 1 < offsets.size(); ++l) most = std::max(most, offsets[l + 1] - offsets[l]);
  return most;
}

template LevelSchedule::LevelSchedule(Context&, const Array<std::int32_t>&, const Array<std::int32_t>&, Fill);
template LevelSchedule::LevelSchedule(Context&, const Array<std::int64_t>&, const Array<std::int32_t>&, Fill);

}  // namespace krill
