#include <algorithm>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/factor/incomplete_passes.hpp"
#include "sparse/factor/team_row.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int threads = 256;  ///< of a block. Not varied.
  /// Entries of a mean row up to which a lane counts a row alone. Not varied.
  static constexpr std::int64_t max_entries_alone = 12;
  /// Of FillItems, whose rows write to lines that other rows fill up later. With so few rows at a time those lines stay
  /// in L2: for a grid of 256^3 on an H100 2.4 GB and 5.1 ms, with 3 blocks 12.3 GB and 12.5 ms, with 8 18.0 GB and
  /// 17.1 ms.
  static constexpr int blocks_per_multiprocessor = 2;
};

/// What a team needs to know of the row above that an entry stands for.
template <class Offset>
struct RowAbove {
  typename FactorPattern<Offset>::Candidates candidates;
  PublishedRow<Offset> published;
  Offset pivot;
  std::int32_t row;
};

// Threads: a team a row, which goes through the entries left of the diagonal; its lanes take the candidates, and a
//   ballot numbers those that meet. Both teams of a warp take as many steps as the one that needs more.
// Bytes: columns of the row and of those above, from L1 and L2 for the most part, as neighbors share them; items once.
// Races: none: a row's items have places of their own.
template <bool stores, class Offset>
__global__ void __launch_bounds__(Tuning::threads)
    items_kernel(FactorPattern<Offset> p, ItemPlaces<Offset> to, std::int32_t* items, Skip skip) {
  if (skip.now()) return;
  constexpr int lanes = team_lanes;
  constexpr unsigned warp = ~0u;
  const RowTeam<lanes> team;
  const std::int64_t number = (std::int64_t{blockIdx.x} * Tuning::threads + threadIdx.x) / lanes;
  const bool there = number < p.a.rows;
  const std::int32_t i = there ? static_cast<std::int32_t>(number) : p.a.rows - 1;
  const bool has_items = there && !p.is_long(i);
  const Offset begin = p.a.row_offsets[i];
  const int lower = has_items ? static_cast<int>(p.diagonals[i] - begin) : 0;
  const int steps = static_cast<int>(__reduce_max_sync(warp, static_cast<unsigned>(lower)));
  std::int64_t first = 0;
  if (stores && has_items) first = to.first(to.inverse[i]);
  RowAbove<Offset> of_lane{};
  int count = 0;
  for (int step = 0; step < steps; ++step) {
    if (const int ahead = step + team.lane; step % lanes == 0 && ahead < lower) {
      const std::int32_t row = p.a.col_indices[begin + ahead];
      of_lane.row = row;
      of_lane.candidates = p.candidates(i, begin + ahead, row);
      if (stores) of_lane.published = to.published(p, row), of_lane.pivot = p.pivot_of(row);
    }
    const RowAbove<Offset> above = team.from(warp, of_lane, step % lanes);
    const bool is_entry = step < lower;
    if (stores && is_entry && team.lane == 0)
      to.store(first + team_place(lanes, count), above.published, above.pivot, step, true);
    count += is_entry;
    const unsigned width = is_entry ? static_cast<unsigned>(above.candidates.end - above.candidates.first) : 0;
    const unsigned widest = __reduce_max_sync(warp, width);
    for (unsigned start = 0; start < widest; start += lanes) {
      typename FactorPattern<Offset>::Item item{};
      if (const unsigned candidate = start + team.lane; candidate < width)
        item = p.item(i, begin + step, above.row, above.candidates.first + static_cast<Offset>(candidate));
      const unsigned met = team.ballot(warp, item.meets);
      if (stores && item.meets)
        to.store(first + team_place(lanes, count + __popc(met & ((1u << team.lane) - 1))),
                 p.cholesky ? to.published(p, item.row) : above.published, item.at, item.slot, false);
      count += __popc(met);
    }
  }
  if (!stores && there && team.lane == 0) items[i] = has_items ? count : -1;
}

template <bool stores, class Offset>
void run_items(const Cuda& cuda, const FactorPattern<Offset>& p, const ItemPlaces<Offset>& to, std::int32_t* items) {
  const auto blocks = static_cast<unsigned>(ceil_div(std::int64_t{p.a.rows} * team_lanes, Tuning::threads));
  items_kernel<stores><<<blocks, Tuning::threads, 0, cuda.stream>>>(p, to, items, cuda.skip);
  check(cudaGetLastError());
}

template <class Offset>
void fill_alone(const Cuda& cuda, const FillItems<Offset>& fill) {
  const std::int64_t rows = fill.p.a.rows;
  const int blocks = std::min(grid_blocks(cuda, rows), cuda.multiprocessors * Tuning::blocks_per_multiprocessor);
  pass_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(rows, fill, cuda.skip, GridScratch<NoSum>{});
  check(cudaGetLastError());
}

}  // namespace

template <class Offset>
void count_items_of_rows(const Cuda& cuda, const FactorPattern<Offset>& p, std::int32_t* items) {
  if (p.a.nnz <= Tuning::max_entries_alone * p.a.rows)
    run_pass(cuda, p.a.rows, CountItems<Offset>{p, items});
  else
    run_items<false>(cuda, p, ItemPlaces<Offset>{}, items);
}

template <class Offset>
void fill_items(const Cuda& cuda, const FactorPattern<Offset>& p, const ItemPlaces<Offset>& to) {
  if (to.lanes == 1)
    fill_alone(cuda, FillItems<Offset>{p, to});
  else
    run_items<true>(cuda, p, to, nullptr);
}

template class ItemFunctions<std::int32_t, Cuda>;
template class ItemFunctions<std::int64_t, Cuda>;

}  // namespace krill::detail
