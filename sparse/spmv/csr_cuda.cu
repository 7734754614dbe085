#include <algorithm>

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/pass_cuda.cuh"
#include "krill/sparse/spmv/spmv.hpp"

namespace krill {
namespace {

struct Tuning {
  static constexpr int items = 8;  // products in flight a thread; 8 x 256 doubles are 16 KiB of shared memory
  /// Blocks a multiprocessor shall hold, by what a value takes of its shared memory. With 8, which means 32 registers,
  /// 7-point 256^3 takes 0.48 ms on an H200, with 40 registers 0.62.
  static constexpr int resident_blocks(std::size_t value_bytes) { return value_bytes > 8 ? 6 : 8; }
  static constexpr int long_segment = 64;  // from here on a warp adds up the entries of a row, below that one thread
};
constexpr int tile = Tuning::items * sum_threads;
constexpr int most_long_segments = tile / Tuning::long_segment;

/// The sum of values[begin .. end) over the lanes of a warp, valid in lane 0.
template <class T>
__device__ T warp_segment_sum(const T* values, int begin, int end) {
  T sum{};
  for (int k = begin + static_cast<int>(threadIdx.x % 32); k < end; k += 32) sum += values[k];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += shuffle_down(sum, offset);
  return sum;
}

// Threads: a block takes 256 rows at a time. All its threads multiply the rows' entries in order (coalesced) into
// shared
//   memory, a tile at a time; then thread t adds up what row t has in the tile, or a warp does where that is long.
// Bytes: every entry, offset and y once, x as often as the caches miss. Streaming loads (ld.cs, no_allocate) of the
//   entries cost 12 % at 7-point 256^3 on an H200 and gain as much at 5-point 1024^2, whose matrix nearly fits L2.
// Races: the tile is written before the first barrier of a round and read before its last one, which the whole block
//   reaches (loop bounds are uniform); the list of long segments has room for all that fit a tile, and its order does
//   not matter: each belongs to another row.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads, Tuning::resident_blocks(sizeof(T)))
    csr_spmv_kernel(CsrProduct<T, Offset> p, Skip skip, GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  __shared__ alignas(16) unsigned char memory[tile * sizeof(T)];
  __shared__ alignas(16) unsigned char segment_memory[most_long_segments * sizeof(T)];
  __shared__ int segment_begin[most_long_segments], segment_end[most_long_segments], segments;
  T* products = reinterpret_cast<T*>(memory);
  T* segment_sums = reinterpret_cast<T*>(segment_memory);

  const CsrView<const T, Offset>& a = p.a;
  const auto base = static_cast<std::int32_t>(a.base);
  typename DotsView<T>::Sum dots;
  const auto rows = static_cast<unsigned>(a.rows);  // below 2^31, so that first cannot wrap
  for (unsigned first = blockIdx.x * sum_threads; first < rows; first += gridDim.x * sum_threads) {
    const unsigned row = first + threadIdx.x, past = min(first + sum_threads, rows);
    const Offset end = a.row_offsets[past] - base;
    const Offset row_begin = row < past ? a.row_offsets[row] - base : end;
    const Offset row_end = row < past ? a.row_offsets[row + 1] - base : end;
    T sum{};
    for (Offset start = a.row_offsets[first] - base; start < end;) {
      const int filled = end - start < tile ? static_cast<int>(end - start) : tile;
      if (threadIdx.x == 0) segments = 0;
#pragma unroll
      for (int i = 0; i < Tuning::items; ++i) {
        const int k = i * sum_threads + static_cast<int>(threadIdx.x);
        if (k < filled) products[k] = a.values[start + k] * p.x[a.col_indices[start + k] - base];
      }
      __syncthreads();
      const int from = row_begin > start ? static_cast<int>(min(row_begin - start, Offset(tile))) : 0;
      const int to = row_end > start ? static_cast<int>(min(row_end - start, Offset(tile))) : 0;
      const bool is_long = to - from >= Tuning::long_segment;
      if (!is_long)
        for (int k = from; k < to; ++k) sum += products[k];
      if (__syncthreads_or(is_long)) {
        const int segment = is_long ? atomicAdd(&segments, 1) : 0;
        if (is_long) segment_begin[segment] = from, segment_end[segment] = to;
        __syncthreads();
        for (int s = threadIdx.x / 32; s < segments; s += sum_threads / 32) {
          const T total = warp_segment_sum(products, segment_begin[s], segment_end[s]);
          if (threadIdx.x % 32 == 0) segment_sums[s] = total;
        }
        __syncthreads();
        if (is_long) sum += segment_sums[segment];
      }
      if (end - start <= tile) break;
      start += tile;
    }
    if (row < past) {
      const auto mine = p.store(row, sum);
      if (p.dots.wanted()) dots += mine;
    }
  }
  if (p.dots.wanted()) grid_sum(dots, scratch, [&](const typename DotsView<T>::Sum& total) { p.dots.finish(total); });
}

/// Blocks that a multiprocessor holds at a time: a grid of just those leaves no last wave half empty.
template <class T, class Offset>
int resident_blocks() {
  static const int blocks = [] {
    int most = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, csr_spmv_kernel<T, Offset>, sum_threads, 0));
    return most;
  }();
  return blocks;
}

}  // namespace

template <class T, class Offset>
void csr_spmv(const Cuda& cuda, const CsrProduct<T, Offset>& p) {
  const int blocks = std::min(grid_blocks(cuda, p.a.rows), cuda.multiprocessors * resident_blocks<T, Offset>());
  Frame frame(cuda);
  const auto scratch = grid_scratch<typename DotsView<T>::Sum>(cuda, frame, blocks);
  csr_spmv_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(p, cuda.skip, scratch);
  check(cudaGetLastError());
}

#define INSTANTIATE(T, Offset) template void csr_spmv(const Cuda&, const CsrProduct<kernel_t<T>, Offset>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
