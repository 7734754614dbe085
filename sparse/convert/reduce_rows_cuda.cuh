// Passes over the entries of rows, on CUDA: a team of lanes has a row.
#pragma once
#include <algorithm>

#include "sparse/convert/lanes_of_rows.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

/// Adds over neighboring lanes, as many as a power of two says; valid in all of them.
template <class Item>
__device__ Item add_lanes(Item item, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    item += on_words(item, [=](unsigned word) { return __shfl_xor_sync(~0u, word, offset); });
  return item;
}

/// The rows of the grid, each by a team of `lanes` neighboring threads (a power of two up to 32) with an entry to a
/// lane at a time; rows of more than RowPassTuning::long_row entries are their whole warp's. Every thread calls it.
template <class RowPass, class Sum = typename RowPass::Sum>
__device__ Sum reduce_rows_of_grid(const RowPass& pass, int lanes) {
  using Item = typename RowPass::Item;
  using Offset = std::remove_cvref_t<decltype(*pass.a.row_offsets)>;
  const int lane = static_cast<int>(threadIdx.x) % lanes, warp_lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned teams = sum_threads / lanes, rows = pass.a.rows;  // below 2^31, so that `first` cannot wrap
  Sum sum{};
  for (unsigned first = blockIdx.x * teams; first < rows; first += gridDim.x * teams) {
    const auto row = static_cast<std::int32_t>(first + threadIdx.x / lanes);
    const bool there = row < pass.a.rows && pass.wants(row);
    const Offset begin = there ? pass.a.row_offsets[row] : 0, end = there ? pass.a.row_offsets[row + 1] : 0;
    const bool is_long = end - begin > RowPassTuning::long_row;
    const int count = is_long ? 0 : static_cast<int>(end - begin);
    Item item{};
#pragma unroll 4  // entries whose loads go ahead together
    for (int e = lane; e < count; e += lanes) item += pass.entry(row, begin + e);
    item = add_lanes(item, lanes);
    if (there && !is_long && lane == 0) sum += pass.finish_row(row, item);
    for (unsigned left = __ballot_sync(~0u, is_long && lane == 0); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const std::int32_t of_all = shuffle_from(row, owner);
      const std::int64_t to = shuffle_from(end, owner);
      Item all{};
#pragma unroll 8  // one after the other they would take a load's latency each
      for (std::int64_t k = shuffle_from(begin, owner) + warp_lane; k < to; k += 32) all += pass.entry(of_all, k);
      all = add_lanes(all, 32);
      if (warp_lane == 0) sum += pass.finish_row(of_all, all);
    }
  }
  return sum;
}

// Threads: a team a row, striding over the grid.
// Bytes: what the pass reads of each entry, once; what it writes for each row.
// Races: finish_row(row) is one lane's, and writes what no entry() of another row reads.
template <class RowPass, class Sum = typename RowPass::Sum>
__global__ void __launch_bounds__(sum_threads)
    reduce_rows_kernel(RowPass pass, int lanes, Skip skip, GridScratch<Sum> scratch) {
  if (skip.now()) return;
  const Sum sum = reduce_rows_of_grid(pass, lanes);
  if constexpr (!std::is_same_v<Sum, NoSum>) grid_sum(sum, scratch, [&](const Sum& total) { pass.finish(total); });
}

template <class RowPass>
void reduce_rows(const Cuda& cuda, RowPass pass) {
  using Sum = typename RowPass::Sum;
  const int lanes = lanes_of_rows(pass.a.nnz, pass.a.rows);
  const int blocks = grid_blocks(cuda, pass.a.rows, sum_threads / lanes);
  Frame frame(cuda);
  GridScratch<Sum> scratch{};
  if constexpr (!std::is_same_v<Sum, NoSum>) scratch = grid_scratch<Sum>(cuda, frame, blocks);
  reduce_rows_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(pass, lanes, cuda.skip, scratch);
  check(cudaGetLastError());
}

}  // namespace krill::detail
