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

// Threads: a team of `lanes` neighboring ones (a power of two up to 32) a row, an entry to a lane at a time; rows of
//   more than RowPassTuning::long_row entries are their warp's. Loops that hold shuffles end for a whole warp at a
//   time.
// Bytes: what the pass reads of each entry, once; what it writes for each row.
// Races: finish_row(row) is one lane's, and writes what no entry() of another row reads.
template <class RowPass, class Sum = typename RowPass::Sum>
__device__ Sum reduce_rows_of_grid(const RowPass& pass, int lanes) {
  using Item = typename RowPass::Item;
  const int lane = static_cast<int>(threadIdx.x) % lanes, warp_lane = static_cast<int>(threadIdx.x) % 32;
  const int teams = sum_threads / lanes;
  Sum sum{};
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < pass.a.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t row = first + threadIdx.x / lanes;
    const bool there = row < pass.a.rows && pass.wants(row);
    const std::int64_t begin = there ? pass.a.row_offsets[row] : 0, end = there ? pass.a.row_offsets[row + 1] : 0;
    const bool is_long = end - begin > RowPassTuning::long_row;
    Item item{};
    if (!is_long)
      for (std::int64_t k = begin + lane; k < end; k += lanes) item += pass.entry(row, k);
    item = add_lanes(item, lanes);
    if (there && !is_long && lane == 0) sum += pass.finish_row(row, item);
    for (unsigned left = __ballot_sync(~0u, is_long && lane == 0); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const std::int64_t of_all = shuffle_from(row, owner), to = shuffle_from(end, owner);
      Item all{};
#pragma unroll 8  // one after the other they would take a load's latency each
      for (std::int64_t k = shuffle_from(begin, owner) + warp_lane; k < to; k += 32) all += pass.entry(of_all, k);
      all = add_lanes(all, 32);
      if (warp_lane == 0) sum += pass.finish_row(of_all, all);
    }
  }
  return sum;
}

template <class RowPass, class Sum = typename RowPass::Sum>
__global__ void __launch_bounds__(sum_threads)
    reduce_rows_kernel(RowPass pass, int lanes, Skip skip, GridScratch<Sum> scratch) {
  if (skip.now()) return;
  const Sum sum = reduce_rows_of_grid(pass, lanes);
  if constexpr (!std::is_same_v<Sum, NoSum>) grid_sum(sum, scratch, [&](const Sum& total) { pass.finish(total); });
}

// Threads: as above. A team votes on its row's entries, each of which finds its place among those that are chosen.
// Bytes: what the choice reads of each entry, once; 4 for each that is chosen. Races: none.
template <class Offset, class RowChoice>
__global__ void __launch_bounds__(sum_threads)
    list_rows_kernel(RowChoice choice, int lanes, const Offset* row_offsets, std::int32_t* col_indices, Skip skip) {
  if (skip.now()) return;
  const int warp_lane = static_cast<int>(threadIdx.x) % 32, teams = sum_threads / lanes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < choice.a.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t row = first + threadIdx.x / lanes;
    const bool there = row < choice.a.rows;
    const std::int64_t begin = there ? choice.a.row_offsets[row] : 0, end = there ? choice.a.row_offsets[row + 1] : 0;
    const bool is_long = end - begin > RowPassTuning::long_row;
    const auto list = [&](std::int64_t of_row, std::int64_t from, std::int64_t to, Offset at, int team) {
      const int lane = warp_lane % team;
      const unsigned before = (1u << warp_lane) - 1, mine = (~0u >> (32 - team)) << (warp_lane - lane);
      for (std::int64_t k = from + lane; __any_sync(~0u, k - lane < to); k += team) {
        const bool holds = k < to && choice.holds(of_row, k);
        const unsigned votes = __ballot_sync(~0u, holds) & mine;
        if (holds) col_indices[at + __popc(votes & before)] = choice.a.col_indices[k];
        at += __popc(votes);
      }
    };
    const Offset at = there ? row_offsets[row] : 0;
    list(row, begin, is_long ? begin : end, at, lanes);
    for (unsigned left = __ballot_sync(~0u, is_long && warp_lane % lanes == 0); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      list(shuffle_from(row, owner), shuffle_from(begin, owner), shuffle_from(end, owner), shuffle_from(at, owner), 32);
    }
  }
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

template <class Offset, class RowChoice>
void list_rows(const Cuda& cuda, RowChoice choice, const Offset* row_offsets, std::int32_t* col_indices) {
  if (choice.a.rows == 0) return;
  const int lanes = lanes_of_rows(choice.a.nnz, choice.a.rows, RowPassTuning::max_listed);
  list_rows_kernel<<<grid_blocks(cuda, choice.a.rows, sum_threads / lanes), sum_threads, 0, cuda.stream>>>(
      choice, lanes, row_offsets, col_indices, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace krill::detail
