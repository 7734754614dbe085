// The frame of the CUDA kernels that go by rows: a few lanes a row, and the dots.
#pragma once
#include <algorithm>

#include "krill/sparse/core/pass_cuda.cuh"
#include "krill/sparse/spmv/product.hpp"

namespace krill {

/// Adds over `lanes` (a power of two) neighboring lanes of a warp; valid in the first of them.
template <class T>
__device__ T lanes_sum(T sum, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += shuffle_down(sum, offset);
  return sum;
}

// Threads: `lanes` neighboring ones a stored row, striding over the grid; row_part(view, s, lane, lanes, x) is what a
//   lane adds up of stored row s. Whole warps stay together: rows beyond the last one add nothing.
// Bytes: what row_part says, y once. Races: each y_i is written by one lane.
template <class View>
__global__ void __launch_bounds__(sum_threads)
    row_kernel(Product<View> p, int lanes, Skip skip,
               GridScratch<typename DotsView<typename View::Value>::Sum> scratch) {
  if (skip.now()) return;
  using T = typename View::Value;
  typename DotsView<T>::Sum dots;
  const std::int64_t count = p.a.stored_rows(), stride = std::int64_t(gridDim.x) * (sum_threads / lanes);
  const std::int64_t rounds = (count + stride - 1) / stride;
  std::int64_t s = (std::int64_t(blockIdx.x) * sum_threads + threadIdx.x) / lanes;
  for (std::int64_t round = 0; round < rounds; ++round, s += stride) {
    T sum{};
    if (s < count) sum = row_part(p.a, static_cast<std::int32_t>(s), static_cast<int>(threadIdx.x) % lanes, lanes, p.x);
    if (lanes > 1) sum = lanes_sum(sum, lanes);
    if (s >= count || threadIdx.x % lanes != 0) continue;
    const auto mine = p.store(p.a.row_of(static_cast<std::int32_t>(s)), sum);
    if (p.dots.wanted()) dots += mine;
  }
  if (p.dots.wanted()) grid_sum(dots, scratch, [&](const typename DotsView<T>::Sum& total) { p.dots.finish(total); });
}

template <class View>
void launch_rows(const Cuda& cuda, const Product<View>& p, int lanes) {
  using Sum = typename DotsView<typename View::Value>::Sum;
  const int blocks = grid_blocks(cuda, std::int64_t{p.a.stored_rows()} * lanes);
  Frame frame(cuda);
  row_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(p, lanes, cuda.skip, grid_scratch<Sum>(cuda, frame, blocks));
  check(cudaGetLastError());
}

/// A load of what is read once: it leaves the caches to x.
template <class T>
__device__ T load_streaming(const T* from) {
  static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= 16);
  T value;
  if constexpr (sizeof(T) == 4) {
    const int word = __ldcs(reinterpret_cast<const int*>(from));
    memcpy(&value, &word, sizeof value);
  } else if constexpr (sizeof(T) == 8) {
    const double word = __ldcs(reinterpret_cast<const double*>(from));
    memcpy(&value, &word, sizeof value);
  } else {
    const double words[2] = {__ldcs(reinterpret_cast<const double*>(from)),
                             __ldcs(reinterpret_cast<const double*>(from) + 1)};
    memcpy(&value, words, sizeof value);
  }
  return value;
}

}  // namespace krill
