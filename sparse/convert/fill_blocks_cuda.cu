#include <algorithm>
#include <bit>

#include "sparse/convert/fill_blocks.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int blocks = 6;  ///< that a multiprocessor is to hold. Not varied.
};

// Threads: `lanes` neighboring ones (a power of two) a group; each takes one place of all its blocks, then the place
// `lanes` further on, so that neighbors write neighboring places whatever the order inside blocks. Each looks for its
// entry itself: from the last one on where the rows stay, else by bisection. Bytes: entries and block columns once
// (the lanes of a row share them in L1), every place once. Races: each place is written by one thread.
template <class Places, class T, class Offset>
__global__ void __launch_bounds__(sum_threads, Tuning::blocks)
    fill_blocks_kernel(CsrView<const T, Offset> from, Places to, int lanes, Skip skip) {
  if (skip.now()) return;
  const Blocking blocks = to.blocks();
  const bool by_rows = blocks.order == BlockOrder::row_major;
  const int size = static_cast<int>(blocks.size()), lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t stride = std::int64_t{gridDim.x} * (sum_threads / lanes);
  for (std::int64_t g = (std::int64_t{blockIdx.x} * sum_threads + threadIdx.x) / lanes; g < to.groups(); g += stride) {
    const auto group = static_cast<std::int32_t>(g);
    const std::int64_t first = to.first(group), block_end = to.end(group);
    for (int place = lane; place < size; place += lanes) {
      const int i = by_rows ? place / blocks.col_dim : place % blocks.row_dim;
      const int j = by_rows ? place % blocks.col_dim : place / blocks.row_dim;
      Offset k = 0, end = 0;
      for (std::int64_t b = first; b < block_end; ++b) {
        const std::int64_t row = to.row(group, b, i), col = to.col(group, b, j), at = to.at(group, b, i, j);
        if (!Places::rows_stay || b == first) {
          k = row < from.rows ? from.row_offsets[row] : 0;
          end = row < from.rows ? from.row_offsets[row + 1] : 0;
        }
        k = Places::rows_stay ? next_entry(from.col_indices, k, end, col) : lower_entry(from.col_indices, k, end, col);
        if (at >= 0) to.values[at] = k < end && from.col_indices[k] == col ? from.values[k] : T{};
      }
    }
  }
}

}  // namespace

template <class Places, class T, class Offset>
void fill_blocks(const Cuda& cuda, const CsrView<const T, Offset>& from, Places to) {
  const auto size = static_cast<unsigned>(to.blocks().size());
  const int lanes = std::min(static_cast<int>(std::bit_ceil(size)), sum_threads);
  fill_blocks_kernel<<<grid_blocks(cuda, std::int64_t{to.groups()} * lanes), sum_threads, 0, cuda.stream>>>(
      from, to, lanes, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE_WITH_OFFSETS(FillBlocksKernels, Cuda);

}  // namespace krill::detail
