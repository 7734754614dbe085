#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {
namespace {

constexpr int warps_a_block = sum_threads / 32;
constexpr std::int32_t longest_alone = 512;  // places of a row that a thread adds up on its own

template <class T>
__device__ bool is_wide(const SellView<const T>& a, std::int32_t s) {
  return a.width_of(s) > longest_alone;
}

/// The sum of places part, part + parts, ... of stored row s, 12 bytes each with doubles, `flight` of them in flight.
/// Streaming loads make 5-point 1024^2 a quarter faster on an H200, and 7-point 256^3 not slower. slice_rows = 0: not
/// known when this is compiled.
template <int slice_rows, int parts, int flight, class T>
__device__ T sum_places(const SellView<const T>& a, std::int32_t s, int part, const T* x) {
  const auto first = static_cast<std::int32_t>(a.base);
  const std::int32_t rows = slice_rows ? slice_rows : a.slice_rows, slice = s / rows;
  std::int64_t at = s % rows + std::int64_t{part} * rows;
  auto width = static_cast<std::int32_t>(a.width);
  if (a.slice_offsets) {
    const std::int64_t begin = a.slice_offsets[slice];
    width = static_cast<std::int32_t>((a.slice_offsets[slice + 1] - begin) / rows);
    at += begin;
  }
  T sum{};
#pragma unroll 1
  for (width -= part; width > 0; width -= flight * parts) {
    std::int32_t columns[flight];
    T values[flight];
#pragma unroll
    for (int u = 0; u < flight; ++u, at += parts * rows)
      if (u * parts < width)
        columns[u] = load_streaming(a.col_indices + at), values[u] = load_streaming(a.values + at);
      else
        columns[u] = first - 1;
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (columns[u] >= first) sum += values[u] * x[columns[u] - first];
  }
  return sum;
}

/// The rows in wide slices among the stored rows first, first + 1, ... of a block: all its warps share those of each
/// warp. The whole block; valid in the row's thread.
template <int slice_rows, class T>
__device__ T sum_wide(const SellView<const T>& a, std::int64_t first, const T* x) {
  __shared__ alignas(T) unsigned char memory[sizeof(T) * sum_threads];
  T* parts = reinterpret_cast<T*>(memory);
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  T mine{};
#pragma unroll 1
  for (std::int32_t warp = 0; warp < warps_a_block; ++warp) {
    const std::int64_t s = first + 32 * warp + thread % 32;
    const bool wide = s < a.rows && is_wide(a, static_cast<std::int32_t>(s));
    if (!__syncthreads_or(wide)) continue;
    if (wide) parts[thread] = sum_places<slice_rows, warps_a_block, 2>(a, static_cast<std::int32_t>(s), thread / 32, x);
    __syncthreads();
    if (wide && thread / 32 == warp)
#pragma unroll 1
      for (std::int32_t i = thread % 32; i < sum_threads; i += 32) mine += parts[i];
  }
  return mine;
}

// Threads: one a stored row, striding over the grid; those in wide slices at the end, by all warps of a block.
// Bytes: every place, slice offset and y once, x as often as the caches miss.
// Races: each y_i is written by one thread; parts are written again after the next barrier.
template <bool with_dots, int slice_rows, class T>
__global__ void __launch_bounds__(sum_threads, sizeof(T) > 8 ? 4
                                               : with_dots   ? 6
                                                             : 8)
    sell_kernel(Product<SellView<const T>> p, Skip skip, GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  RowBook<with_dots, SellView<const T>> book(p);
  const auto stride = static_cast<std::int64_t>(gridDim.x) * sum_threads, mine = std::int64_t{blockIdx.x} * sum_threads;
  bool has_wide = false;
  for (std::int64_t s = mine + threadIdx.x; s < p.a.rows; s += stride) {
    const auto row = static_cast<std::int32_t>(s);
    if (is_wide(p.a, row))
      has_wide = true;
    else
      book.put(p.a.row_of(row), sum_places<slice_rows, 1, in_flight>(p.a, row, 0, p.x));
  }
  if (__syncthreads_or(has_wide))
#pragma unroll 1
    for (std::int64_t first = mine; first < p.a.rows; first += stride) {
      const T sum = sum_wide<slice_rows>(p.a, first, p.x);
      const std::int64_t s = first + threadIdx.x;
      if (s < p.a.rows && is_wide(p.a, static_cast<std::int32_t>(s)))
        book.put(p.a.row_of(static_cast<std::int32_t>(s)), sum);
    }
  book.finish(scratch);
}

template <int slice_rows, class T>
void launch(const Cuda& cuda, const Product<SellView<const T>>& p) {
  const ProductGrid grid{grid_blocks(cuda, p.a.stored_rows())};
  p.dots.wanted() ? launch_product<sell_kernel<true, slice_rows, T>>(cuda, p, grid)
                  : launch_product<sell_kernel<false, slice_rows, T>>(cuda, p, grid);
}

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<SellView<const T>>& p) {
  p.a.slice_rows == 32 ? launch<32>(cuda, p) : launch<0>(cuda, p);
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<SellView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
