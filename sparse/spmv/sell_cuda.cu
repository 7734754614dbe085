#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {
namespace {

constexpr int warps_a_block = sum_threads / 32;
constexpr std::int32_t longest_alone = 512;  // places of a row that a thread adds up on its own

/// Places of a row, `step` apart.
struct Places {
  std::int64_t at;
  std::int32_t width, step;

  __device__ bool are_many() const { return width > longest_alone; }
};

/// Those of stored row s. slice_rows = 0: not known when this is compiled.
template <int slice_rows, class T>
__device__ Places places_of(const SellView<const T>& a, std::int32_t s) {
  const std::int32_t rows = slice_rows ? slice_rows : a.slice_rows, slice = s / rows;
  if (!a.slice_offsets) return {s, static_cast<std::int32_t>(a.width), rows};
  const std::int64_t begin = a.slice_offsets[slice];
  return {begin + s % rows, static_cast<std::int32_t>((a.slice_offsets[slice + 1] - begin) / rows), rows};
}

/// The sum over some places: 12 bytes each with doubles. Streaming loads make 5-point 1024^2 a quarter faster on an
/// H200, and 7-point 256^3 not slower.
template <class T>
__device__ T sum_places(const SellView<const T>& a, Places of, const T* x) {
  const auto first = static_cast<std::int32_t>(a.base);
  T sum{};
  for (; of.width > 0; of.width -= in_flight) {
    std::int32_t columns[in_flight];
    T values[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u, of.at += of.step)
      if (u < of.width)
        columns[u] = load_streaming(a.col_indices + of.at), values[u] = load_streaming(a.values + of.at);
      else
        columns[u] = first - 1;
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (columns[u] >= first) sum += values[u] * x[columns[u] - first];
  }
  return sum;
}

/// The rows in wide slices of a block whose stored rows are first, first + 1, ..., first + stride, ...: all its warps
/// share those of each warp; what the rows add to the dots. The whole block. Out of line: it would take registers from
/// the kernel's loop.
template <int slice_rows, class T>
__noinline__ __device__ typename DotsView<T>::Sum add_wide_rows(const Product<SellView<const T>>& p, std::int64_t first,
                                                                std::int64_t stride) {
  __shared__ alignas(T) unsigned char memory[sizeof(T) * sum_threads];
  T* parts = reinterpret_cast<T*>(memory);
  const auto thread = static_cast<std::int32_t>(threadIdx.x), part = thread / 32;
  typename DotsView<T>::Sum dots;
  for (; first < p.a.rows; first += stride)
    for (std::int32_t warp = 0; warp < warps_a_block; ++warp) {
      const std::int64_t s = first + 32 * warp + thread % 32;
      Places of{};
      if (s < p.a.rows) of = places_of<slice_rows>(p.a, static_cast<std::int32_t>(s));
      const bool wide = of.are_many();
      if (!__syncthreads_or(wide)) continue;
      of.at += std::int64_t{part} * of.step;
      of.width = (of.width - part + warps_a_block - 1) / warps_a_block;
      of.step *= warps_a_block;
      if (wide) parts[thread] = sum_places(p.a, of, p.x);
      __syncthreads();
      if (!wide || part != warp) continue;
      T sum{};
      for (std::int32_t i = thread % 32; i < sum_threads; i += 32) sum += parts[i];
      dots += p.store(p.a.row_of(static_cast<std::int32_t>(s)), sum);
    }
  return dots;
}

// Threads: one a stored row, striding over the grid; those in wide slices at the end, by all warps of a block.
// Bytes: every place, slice offset and y once, x as often as the caches miss.
// Races: each y_i is written by one thread; parts are written again after the next barrier.
template <bool with_dots, int slice_rows, class T>
__global__ void __launch_bounds__(sum_threads, sizeof(T) > 8 ? 4
                                               : with_dots   ? 6
                                                             : 8)
    sell_kernel(const __grid_constant__ Product<SellView<const T>> p, Skip skip,
                GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  RowBook<with_dots, SellView<const T>> book(p);
  const auto count = static_cast<unsigned>(p.a.rows);  // below 2^31, so that `s` cannot wrap
  bool has_wide = false;
  for (unsigned s = blockIdx.x * sum_threads + threadIdx.x; s < count; s += gridDim.x * sum_threads) {
    const auto row = static_cast<std::int32_t>(s);
    const Places of = places_of<slice_rows>(p.a, row);
    if (of.are_many())
      has_wide = true;
    else
      book.put(p.a.row_of(row), sum_places(p.a, of, p.x));
  }
  if (__syncthreads_or(has_wide))
    book.add(
        add_wide_rows<slice_rows>(p, std::int64_t{blockIdx.x} * sum_threads, std::int64_t{gridDim.x} * sum_threads));
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
