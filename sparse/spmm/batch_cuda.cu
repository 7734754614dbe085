#include <algorithm>
#include <bit>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmm/batch.hpp"
#include "sparse/spmm/tiling.hpp"

namespace krill::detail {
namespace {

constexpr int batch_threads = 256;
/// Entries of a row in the mean for a lane, where it has so many columns: with more, what lanes add up and hand to one
/// another at the end costs more than the way along the row. Not varied.
constexpr int entries_a_lane(int columns) { return columns == 1 ? 2 : 8; }

// Threads: `lanes` neighboring ones a row of a matrix of the batch, each with the sums of up to `columns` columns at a
//   time.
// Bytes: A once for each group of columns, from a cache after the first; C once; B as often as the caches miss.
// Races: an entry of C is one lane's. Whole warps stay together.
template <int columns, class T, class Offset>
__global__ void __launch_bounds__(batch_threads) batch_kernel(ProductBatch<T, Offset> batch, int lanes, Skip skip) {
  if (skip.now()) return;
  const std::int64_t all = batch.count * batch.first.a.rows;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t number = (std::int64_t{blockIdx.x} * batch_threads + threadIdx.x) / lanes;
  const std::int64_t i = number < all ? number / batch.first.a.rows : 0;
  const auto row = static_cast<std::int32_t>(number < all ? number % batch.first.a.rows : 0);
  const ManyProducts<T, Offset> p = batch.member(i);
  const auto base = static_cast<std::int32_t>(p.a.base);
  const Offset begin = number < all ? p.a.row_offsets[row] - base : 0;
  const Offset end = number < all ? p.a.row_offsets[row + 1] - base : 0;
  const bool by_rows = p.b.order == Order::row_major;
  const std::int64_t row_step = by_rows ? p.b.leading_dimension : 1, column_step = by_rows ? 1 : p.b.leading_dimension;
  for (std::int32_t first = 0; first < p.b.cols; first += columns) {
    const T* const from = p.b.values + first * column_step;
    T sums[columns] = {};
#pragma unroll 2
    for (Offset k = begin + lane; k < end; k += lanes) {
      const T value = p.a.values[k];
      const T* b = from + (p.a.col_indices[k] - base) * row_step;
#pragma unroll
      for (int c = 0; c < columns; ++c, b += column_step)
        if (first + c < p.b.cols) sums[c] += value * conj_if(p.conjugate_b, *b);
    }
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const T sum = lanes_sum(sums[c], lanes);
      if (number < all && lane == 0 && first + c < p.b.cols) p.put(row, first + c, sum);
    }
  }
}

template <int columns, class T, class Offset>
void launch(const Cuda& cuda, const ProductBatch<T, Offset>& batch) {
  const auto& a = batch.first.a;
  const auto mean = static_cast<std::uint64_t>(a.nnz / std::max(a.rows, 1));
  constexpr std::uint64_t each = entries_a_lane(columns);
  const int lanes = static_cast<int>(std::bit_ceil(std::clamp<std::uint64_t>(ceil_div(mean, each), 1, 32)));
  const std::int64_t threads = batch.count * a.rows * lanes;
  batch_kernel<columns>
      <<<static_cast<unsigned>(ceil_div(threads, std::int64_t{batch_threads})), batch_threads, 0, cuda.stream>>>(
          batch, lanes, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void run_batch(const Cuda& cuda, const ProductBatch<T, Offset>& batch) {
  batch.first.b.cols == 1 ? launch<1>(cuda, batch) : launch<SpmmTiling::narrow>(cuda, batch);
}

template <class T, class Offset>
struct CudaBatches {
  static constexpr auto list = instance<void(const Cuda&, const ProductBatch<kernel_t<T>, Offset>&)>(run_batch);
};
KRILL_INSTANTIATE_WITH_OFFSETS(CudaBatches);

}  // namespace krill::detail

namespace krill {

template void run_pass(const Cuda&, std::int64_t, detail::BatchOffsets);

}  // namespace krill
