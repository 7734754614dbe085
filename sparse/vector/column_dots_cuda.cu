#include <algorithm>
#include <bit>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/vector/column_dots.hpp"

namespace krill {

using namespace detail;
namespace {

// Threads: a block has a part of the rows of `across` (a power of two up to 32) neighboring columns; threads side by
//   side have columns side by side, those of one column every so many-th row.
// Bytes: both matrices once, a partial sum a block and column. Races: none; barriers between the halves of the sum.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    partial_dots_kernel(DenseView<const T> x, DenseView<const T> y, int across, std::int64_t parts, wide_t<T>* partials,
                        Skip skip) {
  __shared__ alignas(16) unsigned char memory[sum_threads * sizeof(wide_t<T>)];
  wide_t<T>* const sums = reinterpret_cast<wide_t<T>*>(memory);
  if (skip.now()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t part = blockIdx.x % parts, col = blockIdx.x / parts * across + thread % across;
  const int together = sum_threads / across;  // rows
  wide_t<T> sum{};
  if (col < x.cols) {
#pragma unroll PassTuning::unroll
    for (std::int64_t i = part * together + thread / across; i < x.rows; i += parts * together)
      sum += conj(wide(x.at(i, col))) * wide(y.at(i, col));
  }
  sums[thread] = sum;
  for (int half = sum_threads / 2; half >= across; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  if (thread < across && col < x.cols) partials[col * parts + part] = sums[thread];
}

// Threads: a warp a column, lanes along its partial sums. Bytes: those, and a result a column. Races: none.
template <class W>
__global__ void __launch_bounds__(sum_threads)
    finish_dots_kernel(std::int64_t cols, std::int64_t parts, const W* partials, W* results, Skip skip) {
  if (skip.now()) return;
  const std::int64_t col = (std::int64_t{blockIdx.x} * sum_threads + threadIdx.x) / 32;
  if (col >= cols) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  W sum{};
  for (std::int64_t part = lane; part < parts; part += 32) sum += partials[col * parts + part];
  sum = lanes_sum(sum, 32);
  if (lane == 0) results[col] = sum;
}

}  // namespace

template <class T>
void run_column_dots(const Cuda& cuda, const DenseView<const T>& x, const DenseView<const T>& y, wide_t<T>* results) {
  if (x.cols == 0) return;
  const bool by_rows = x.order == Order::row_major || y.order == Order::row_major;
  const int across = by_rows ? static_cast<int>(std::bit_ceil(std::min(static_cast<unsigned>(x.cols), 32u))) : 1;
  const std::int64_t groups = ceil_div(x.cols, across), device = grid_blocks(cuda, std::int64_t{x.rows} * across),
                     parts = std::max<std::int64_t>(1, device / std::min(groups, device));
  Frame frame(cuda);
  auto* const partials = frame.take<wide_t<T>>(static_cast<std::size_t>(parts * x.cols));
  partial_dots_kernel<<<static_cast<unsigned>(groups * parts), sum_threads, 0, cuda.stream>>>(x, y, across, parts,
                                                                                              partials, cuda.skip);
  check(cudaGetLastError());
  const auto blocks = static_cast<unsigned>(ceil_div(std::int64_t{x.cols} * 32, std::int64_t{sum_threads}));
  finish_dots_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(std::int64_t{x.cols}, parts, partials, results,
                                                              cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE(detail::ColumnDotsKernels, Cuda);

}  // namespace krill
