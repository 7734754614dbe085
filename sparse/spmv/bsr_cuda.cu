#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {
namespace {

/// How lanes of a warp share block rows: `lanes` (a power of two) work on one, `slots` of its blocks at a time, a lane
/// on row `lane % row_dim` of its block.
struct Sharing {
  int lanes, slots;
};

/// What this lane adds up for row i: every slots-th block of the block row from the slot-th on.
template <class T>
__device__ T row_part(const BsrView<const T>& a, std::int32_t block_row, int i, int slot, int slots, const T* x) {
  const auto first = static_cast<std::int32_t>(a.base);
  const std::int32_t row_dim = a.blocks.row_dim, col_dim = a.blocks.col_dim;
  const bool by_rows = a.blocks.order == BlockOrder::row_major;
  const int start = by_rows ? i * col_dim : i, step = by_rows ? 1 : row_dim;
  T sum{};
  for (std::int64_t k = a.row_begins[block_row] - first + slot; k < a.row_ends[block_row] - first; k += slots) {
    const std::int64_t col = std::int64_t{a.col_indices[k] - first} * col_dim;
    const int count = static_cast<int>(min(std::int64_t{col_dim}, a.cols - col));
    const T* values = a.values + k * a.blocks.size() + start;
#pragma unroll 4
    for (int j = 0; j < count; ++j) sum += times_unless_zero(values[j * step], x[col + j]);
  }
  return sum;
}

/// Adds the sums of lanes that have the same row: `row_dim` lanes apart, `slots` of them. Valid in slot 0.
template <class T>
__device__ T slots_sum(T sum, int row_dim, int slot, int slots) {
  int reach = 1;
  while (reach < slots) reach *= 2;
  for (int offset = reach / 2; offset > 0; offset /= 2) {
    const T other = shuffle_down(sum, offset * row_dim);
    if (slot < offset && slot + offset < slots) sum += other;
  }
  return sum;
}

// Threads: some lanes of a warp a block row, each on one row of every slots-th block (rows beyond 32 in a second
// round). Bytes: blocks and their columns once, y once, x as often as the caches miss. Races: each y_i is written by
// one lane. Whole warps stay together.
template <class T>
__global__ void __launch_bounds__(sum_threads) bsr_kernel(Product<BsrView<const T>> p, Sharing sharing, Skip skip,
                                                          GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  typename DotsView<T>::Sum dots;
  const int row_dim = p.a.blocks.row_dim, lane = static_cast<int>(threadIdx.x) % sharing.lanes;
  const std::int64_t count = p.mask ? p.mask_size : p.a.block_rows();
  const std::int64_t stride = std::int64_t(gridDim.x) * (sum_threads / sharing.lanes);
  std::int64_t b = (std::int64_t(blockIdx.x) * sum_threads + threadIdx.x) / sharing.lanes;
  for (std::int64_t rounds = (count + stride - 1) / stride; rounds > 0; --rounds, b += stride) {
    const std::int32_t block_row = b < count ? p.block_row(b) : 0;
    for (int first = 0; first < row_dim; first += sharing.lanes) {
      const int width = min(row_dim - first, sharing.lanes), slot = lane / width, i = first + lane % width;
      T sum{};
      if (b < count && slot < sharing.slots) sum = row_part(p.a, block_row, i, slot, sharing.slots, p.x);
      sum = slots_sum(sum, width, slot, sharing.slots);
      const std::int64_t row = std::int64_t{block_row} * row_dim + i;
      if (b >= count || slot != 0 || row >= p.a.rows) continue;
      const auto mine = p.store(row, sum);
      if (p.dots.wanted()) dots += mine;
    }
  }
  if (p.dots.wanted()) grid_sum(dots, scratch, [&](const typename DotsView<T>::Sum& total) { p.dots.finish(total); });
}

/// As many lanes as the blocks of a mean block row keep busy.
template <class T>
Sharing share(const BsrView<const T>& a) {
  const std::int64_t block_rows = std::max(a.block_rows(), 1);
  const std::int64_t wanted = (a.stored_blocks + block_rows - 1) / block_rows * a.blocks.row_dim;
  int lanes = 1;
  while (lanes < 32 && (lanes < wanted || lanes < a.blocks.row_dim)) lanes *= 2;
  return {lanes, std::max(1, lanes / a.blocks.row_dim)};
}

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<BsrView<const T>>& p) {
  const Sharing sharing = share(p.a);
  const int blocks = grid_blocks(cuda, std::int64_t{p.mask ? p.mask_size : p.a.block_rows()} * sharing.lanes);
  Frame frame(cuda);
  const auto scratch = grid_scratch<typename DotsView<T>::Sum>(cuda, frame, blocks);
  bsr_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(p, sharing, cuda.skip, scratch);
  check(cudaGetLastError());
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<BsrView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
