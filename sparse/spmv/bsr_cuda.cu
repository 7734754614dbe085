#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/launch.cuh"
#include "krill/sparse/spmv/row_book.cuh"

namespace krill {
namespace {

constexpr int blocks_in_flight = 4;  // that a lane asks for before it uses the first

/// How lanes of a warp share block rows: `lanes` (a power of two) work on one, `slots` of its blocks at a time, a lane
/// on row `lane % row_dim` of its block.
struct Sharing {
  int lanes, slots;
};

/// What this lane adds up for row i: every slots-th block of the block row from the slot-th on. columns = 0: not known
/// when this is compiled.
template <int columns, class T>
__device__ T row_part(const BsrView<const T>& a, std::int32_t block_row, int i, int slot, int slots, const T* x) {
  const auto first = static_cast<std::int32_t>(a.base);
  const int row_dim = a.blocks.row_dim, col_dim = columns ? columns : a.blocks.col_dim;
  const bool by_rows = a.blocks.order == BlockOrder::row_major;
  const int start = by_rows ? i * col_dim : i, step = by_rows ? 1 : row_dim;
  const std::int32_t past = a.row_ends[block_row] - first;
  T sum{};
  for (std::int32_t k = a.row_begins[block_row] - first + slot; k < past; k += blocks_in_flight * slots) {
    std::int32_t cols[blocks_in_flight];
#pragma unroll
    for (int u = 0; u < blocks_in_flight; ++u)
      cols[u] = past - k > u * slots ? a.col_indices[k + u * slots] - first : -1;
#pragma unroll
    for (int u = 0; u < blocks_in_flight; ++u) {
      if (cols[u] < 0) continue;
      const std::int64_t col = std::int64_t{cols[u]} * col_dim;
      const T* values = a.values + std::int64_t{k + u * slots} * (row_dim * col_dim) + start;
      if (columns && col + columns <= a.cols) {
#pragma unroll
        for (int j = 0; j < columns; ++j) sum += times_unless_zero(values[j * step], x[col + j]);
      } else {
        for (int j = 0; j < col_dim && col + j < a.cols; ++j) sum += times_unless_zero(values[j * step], x[col + j]);
      }
    }
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
template <bool with_dots, int columns, class T>
__global__ void __launch_bounds__(sum_threads, 4) bsr_kernel(Product<BsrView<const T>> p, Sharing sharing, Skip skip,
                                                             GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  RowBook<with_dots, BsrView<const T>> book(p);
  const int row_dim = p.a.blocks.row_dim, lane = static_cast<int>(threadIdx.x) % sharing.lanes;
  const std::int64_t count = p.mask ? p.mask_size : p.a.block_rows();
  const std::int64_t stride = std::int64_t(gridDim.x) * (sum_threads / sharing.lanes);
  std::int64_t b = (std::int64_t(blockIdx.x) * sum_threads + threadIdx.x) / sharing.lanes;
  for (std::int64_t rounds = (count + stride - 1) / stride; rounds > 0; --rounds, b += stride) {
    const std::int32_t block_row = b < count ? p.block_row(b) : 0;
    for (int first = 0; first < row_dim; first += sharing.lanes) {
      const int width = min(row_dim - first, sharing.lanes), slot = lane / width, i = first + lane % width;
      T sum{};
      if (b < count && slot < sharing.slots) sum = row_part<columns>(p.a, block_row, i, slot, sharing.slots, p.x);
      sum = slots_sum(sum, width, slot, sharing.slots);
      const std::int64_t row = std::int64_t{block_row} * row_dim + i;
      if (b < count && slot == 0 && row < p.a.rows) book.put(row, sum);
    }
  }
  book.finish(scratch);
}

/// So many lanes that each has about as many blocks of a mean block row as it has in flight.
template <class T>
Sharing share(const BsrView<const T>& a) {
  const std::int64_t block_rows = std::max(a.block_rows(), 1);
  const std::int64_t wanted = a.stored_blocks / block_rows * a.blocks.row_dim / blocks_in_flight;
  int lanes = 1;
  while (lanes < 32 && (lanes < wanted || lanes < a.blocks.row_dim)) lanes *= 2;
  return {lanes, std::max(1, lanes / a.blocks.row_dim)};
}

template <int columns, class T>
void launch(const Cuda& cuda, const Product<BsrView<const T>>& p) {
  const Sharing sharing = share(p.a);
  const std::int64_t block_rows = p.mask ? p.mask_size : p.a.block_rows();
  const ProductGrid grid{grid_blocks(cuda, block_rows * sharing.lanes)};
  p.dots.wanted() ? launch_product<bsr_kernel<true, columns, T>>(cuda, p, grid, sharing)
                  : launch_product<bsr_kernel<false, columns, T>>(cuda, p, grid, sharing);
}

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<BsrView<const T>>& p) {
  switch (p.a.blocks.col_dim) {
    case 2:
      return launch<2>(cuda, p);
    case 3:
      return launch<3>(cuda, p);
    case 4:
      return launch<4>(cuda, p);
    default:
      return launch<0>(cuda, p);
  }
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<BsrView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
