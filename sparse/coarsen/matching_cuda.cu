#include <algorithm>
#include <bit>

#include "sparse/coarsen/matching_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr std::int64_t long_row = 256;  ///< entries from which a whole warp has a row. Not varied.
  static constexpr int max_entries = 2;          ///< of a mean row to a lane. Not varied.
};

/// Adds over neighboring lanes, as many as a power of two says; valid in all of them.
template <class Item>
__device__ Item add_lanes(Item item, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    item += on_words(item, [=](unsigned word) { return __shfl_xor_sync(~0u, word, offset); });
  return item;
}

// Threads: a team of `lanes` neighboring ones (a power of two up to 32) a row, an entry to a lane at a time; rows of
//   more than Tuning::long_row entries are their warp's. Loops that hold shuffles end for a whole warp at a time.
// Bytes: what the pass reads of each entry, once; what it writes for each row.
// Races: finish_row(row) is one lane's, and writes what no entry() of another row reads.
template <class RowPass, class Sum = typename RowPass::Sum>
__global__ void __launch_bounds__(sum_threads)
    reduce_rows_kernel(RowPass pass, int lanes, Skip skip, GridScratch<Sum> scratch) {
  if (skip.now()) return;
  using Item = typename RowPass::Item;
  const int lane = static_cast<int>(threadIdx.x) % lanes, warp_lane = static_cast<int>(threadIdx.x) % 32;
  const int teams = sum_threads / lanes;
  Sum sum{};
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < pass.a.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t row = first + threadIdx.x / lanes;
    const bool there = row < pass.a.rows && pass.wants(row);
    const std::int64_t begin = there ? pass.a.row_offsets[row] : 0, end = there ? pass.a.row_offsets[row + 1] : 0;
    const bool is_long = end - begin > Tuning::long_row;
    Item item{};
    if (!is_long)
      for (std::int64_t k = begin + lane; k < end; k += lanes) item += pass.entry(row, k);
    item = add_lanes(item, lanes);
    if (there && !is_long && lane == 0) sum += pass.finish_row(row, item);
    for (unsigned left = __ballot_sync(~0u, is_long && lane == 0); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const std::int64_t of_all = shuffle_from(row, owner), to = shuffle_from(end, owner);
      Item all{};
      for (std::int64_t k = shuffle_from(begin, owner) + warp_lane; k < to; k += 32) all += pass.entry(of_all, k);
      all = add_lanes(all, 32);
      if (warp_lane == 0) sum += pass.finish_row(of_all, all);
    }
  }
  if constexpr (!std::is_same_v<Sum, NoSum>) grid_sum(sum, scratch, [&](const Sum& total) { pass.finish(total); });
}

}  // namespace

template <class RowPass>
void reduce_rows(const Cuda& cuda, RowPass pass) {
  using Sum = typename RowPass::Sum;
  const std::int64_t mean = pass.a.nnz / std::max(pass.a.rows, 1);
  const auto lanes = static_cast<int>(
      std::clamp<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(mean / Tuning::max_entries)), 1, 32));
  const int blocks = grid_blocks(cuda, pass.a.rows, sum_threads / lanes);
  Frame frame(cuda);
  GridScratch<Sum> scratch{};
  if constexpr (!std::is_same_v<Sum, NoSum>) scratch = grid_scratch<Sum>(cuda, frame, blocks);
  reduce_rows_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(pass, lanes, cuda.skip, scratch);
  check(cudaGetLastError());
}

template class PairingPasses<Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingKernels, Cuda);

}  // namespace krill::detail
