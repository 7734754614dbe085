#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <limits>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/products.hpp"

namespace krill::detail {
namespace {

constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max();
constexpr int window_words = 8192;  ///< of a bit a column, in shared memory. Not varied.
constexpr int most_pieces = 64;     ///< of a long row of C, a warp each. Not varied.

/// The least of what the lanes of a team have, in all of them. Every thread of the warp calls it.
__device__ std::int32_t least_in_team(std::int32_t mine, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, offset));
  return mine;
}

// Threads: a team of neighboring lanes a row of C, a lane a row of B; the next column is the least of theirs. Warps
//   stay together until all their teams are through.
// Bytes: rows of B as often as the caches miss, 4 an entry; what the sink writes. Races: the first lane hands on.
template <class Offset, class Sink>
__global__ void __launch_bounds__(sum_threads)
    merge_products_kernel(CsrView<const NoValue, Offset> a, CsrView<const NoValue, Offset> b, TeamRows rows,
                          const std::int64_t* products, Sink sink, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % rows.lanes, teams = sum_threads / rows.lanes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < a.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t row = first + threadIdx.x / rows.lanes;
    const bool mine = row < a.rows && rows.merges(a.row_offsets[row + 1] - a.row_offsets[row], products[row]);
    Offset e = 0, end = 0;
    if (mine && a.row_offsets[row] + lane < a.row_offsets[row + 1]) {
      const std::int32_t of_b = a.col_indices[a.row_offsets[row] + lane];
      e = b.row_offsets[of_b], end = b.row_offsets[of_b + 1];
    }
    std::int32_t col = e < end ? b.col_indices[e] : no_column;
    std::int64_t at = mine ? sink.begin(row) : 0;
    for (;;) {
      const std::int32_t next = least_in_team(col, rows.lanes);
      if (__all_sync(~0u, next == no_column)) break;
      if (next == no_column) continue;
      if (lane == 0) sink.entry(at, next, absent, absent);
      ++at;
      if (col == next) col = ++e < end ? b.col_indices[e] : no_column;
    }
    if (mine && lane == 0) sink.finish(row, at);
  }
}

// Threads: a block a row of C, a warp a row of B; a bit for each column of a window says whether it was met.
// Bytes: rows of B once, and a bisection of each for each window. Races: bits are set atomically, in any order; each
//   thread lists words of its own.
template <class Offset, class Sink>
__global__ void __launch_bounds__(sum_threads)
    mark_products_kernel(CsrView<const NoValue, Offset> a, CsrView<const NoValue, Offset> b, RowList list, Sink sink,
                         Skip skip) {
  using Scan = cub::BlockScan<int, sum_threads>;
  __shared__ unsigned met[window_words];
  __shared__ typename Scan::TempStorage scan;
  if (skip.now()) return;
  constexpr std::int64_t window = std::int64_t{window_words} * 32;
  constexpr int words_a_thread = window_words / sum_threads;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  for (std::int64_t n = blockIdx.x; n < list.count; n += gridDim.x) {
    const std::int32_t row = list.rows[n];
    std::int64_t at = sink.begin(row);
    for (std::int64_t from = 0; from < b.cols; from += window) {
      for (int w = thread; w < window_words; w += sum_threads) met[w] = 0;
      __syncthreads();
      for (std::int64_t k = std::int64_t{a.row_offsets[row]} + warp; k < a.row_offsets[row + 1];
           k += sum_threads / 32) {
        const std::int32_t of_b = a.col_indices[k];
        const std::int64_t end = b.row_offsets[of_b + 1];
        for (std::int64_t e = std::int64_t{lower_entry(b, of_b, from)} + lane; e < end; e += 32) {
          const std::int64_t bit = b.col_indices[e] - from;
          if (bit >= window) break;
          atomicOr(met + bit / 32, 1u << bit % 32);
        }
      }
      __syncthreads();
      int count = 0, before = 0, total = 0;
      for (int w = thread * words_a_thread; w < (thread + 1) * words_a_thread; ++w) count += __popc(met[w]);
      Scan(scan).ExclusiveSum(count, before, total);
      std::int64_t to = at + before;
      for (int w = thread * words_a_thread; w < (thread + 1) * words_a_thread; ++w)
        for (unsigned left = met[w]; left != 0; left &= left - 1)
          sink.entry(to++, static_cast<std::int32_t>(from + w * 32 + __ffs(static_cast<int>(left)) - 1), absent,
                     absent);
      at += total;
      __syncthreads();
    }
    if (thread == 0) sink.finish(row, at);
  }
}

// Threads: a team a row of C, whose columns and sums lie in shared memory; lanes lie along a row of B at a time, and
//   its columns differ, so that no two lanes add to one sum.
// Bytes: A and C once, B as often as the caches miss. Races: a barrier of the warp after each row of B.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads)
    sum_products_kernel(ScalarView<T> alpha, CsrView<const T, Offset> a, CsrView<const T, Offset> b, TeamRows rows,
                        CsrView<const NoValue, Offset> c, T* values, Skip skip) {
  constexpr int places = sum_threads * TeamRows::entries_a_lane;
  __shared__ __align__(16) unsigned char memory[places * sizeof(T)];
  __shared__ std::int32_t all_columns[places];
  if (skip.now()) return;
  const int lanes = rows.lanes, lane = static_cast<int>(threadIdx.x) % lanes, teams = sum_threads / lanes;
  const int mine = static_cast<int>(threadIdx.x) / lanes * lanes * TeamRows::entries_a_lane;
  T* const sums = reinterpret_cast<T*>(memory) + mine;
  std::int32_t* const columns = all_columns + mine;
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < a.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t row = first + threadIdx.x / lanes;
    Offset k = 0, end = 0, to = 0;
    int count = 0;
    if (row < a.rows &&
        rows.holds(a.row_offsets[row + 1] - a.row_offsets[row], c.row_offsets[row + 1] - c.row_offsets[row])) {
      k = a.row_offsets[row], end = a.row_offsets[row + 1], to = c.row_offsets[row];
      count = static_cast<int>(c.row_offsets[row + 1] - to);
    }
    for (int s = lane; s < count; s += lanes) columns[s] = c.col_indices[to + s], sums[s] = T{};
    __syncwarp();
    for (; __any_sync(~0u, k < end); ++k) {
      if (k < end) {
        const T value = a.values[k];
        const std::int32_t of_b = a.col_indices[k];
        const std::int64_t row_end = b.row_offsets[of_b + 1];
        for (std::int64_t e = std::int64_t{b.row_offsets[of_b]} + lane; e < row_end; e += lanes)
          sums[lower_entry(columns, 0, count, b.col_indices[e])] += value * b.values[e];
      }
      __syncwarp();
    }
    for (int s = lane; s < count; s += lanes) values[to + s] = alpha() * sums[s];
    __syncwarp();
  }
}

// Threads: a warp a piece of a row of C, for which it goes through the part of each row of B that lies there; sums are
//   in global memory, in C itself.
// Bytes: a bisection of B's rows for each piece. Races: a piece is one warp's, with a barrier after each row of B.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads)
    sum_pieces_kernel(ScalarView<T> alpha, CsrView<const T, Offset> a, CsrView<const T, Offset> b, RowList list,
                      CsrView<const NoValue, Offset> c, T* values, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warps = std::int64_t{gridDim.x} * (sum_threads / 32);
  for (std::int64_t n = std::int64_t{blockIdx.x} * (sum_threads / 32) + threadIdx.x / 32; n < list.count * most_pieces;
       n += warps) {
    const std::int32_t row = list.rows[n / most_pieces];
    const std::int64_t begin = c.row_offsets[row], end = c.row_offsets[row + 1];
    const std::int64_t length = max((end - begin + most_pieces - 1) / most_pieces, std::int64_t{32});
    const std::int64_t first = min(begin + n % most_pieces * length, end), last = min(first + length, end);
    if (first == last) continue;
    for (std::int64_t at = first + lane; at < last; at += 32) values[at] = T{};
    __syncwarp();
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const T value = a.values[k];
      const std::int32_t of_b = a.col_indices[k];
      const std::int64_t row_end = b.row_offsets[of_b + 1];
      for (std::int64_t e = std::int64_t{lower_entry(b, of_b, c.col_indices[first])} + lane; e < row_end; e += 32) {
        const std::int32_t col = b.col_indices[e];
        if (col > c.col_indices[last - 1]) break;
        values[lower_entry(c.col_indices, first, last, col)] += value * b.values[e];
      }
      __syncwarp();
    }
    for (std::int64_t at = first + lane; at < last; at += 32) values[at] = alpha() * values[at];
  }
}

}  // namespace

template <class Offset, class Sink>
void merge_products(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                    TeamRows rows, const std::int64_t* products, RowList long_rows, Sink sink) {
  if (a.rows == 0) return;
  merge_products_kernel<<<grid_blocks(cuda, a.rows, sum_threads / rows.lanes), sum_threads, 0, cuda.stream>>>(
      a, b, rows, products, sink, cuda.skip);
  check(cudaGetLastError());
  if (long_rows.count == 0) return;
  mark_products_kernel<<<grid_blocks(cuda, long_rows.count, 1), sum_threads, 0, cuda.stream>>>(a, b, long_rows, sink,
                                                                                               cuda.skip);
  check(cudaGetLastError());
}

template <class T, class Offset>
void sum_products(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, TeamRows rows, RowList long_rows,
                  const CsrView<const NoValue, Offset>& c, T* values) {
  if (a.rows == 0) return;
  sum_products_kernel<<<grid_blocks(cuda, a.rows, sum_threads / rows.lanes), sum_threads, 0, cuda.stream>>>(
      alpha, a, b, rows, c, values, cuda.skip);
  check(cudaGetLastError());
  if (long_rows.count == 0) return;
  sum_pieces_kernel<<<grid_blocks(cuda, long_rows.count * most_pieces, sum_threads / 32), sum_threads, 0,
                      cuda.stream>>>(alpha, a, b, long_rows, c, values, cuda.skip);
  check(cudaGetLastError());
}

template class ProductPatternKernels<std::int32_t, Cuda>;
template class ProductPatternKernels<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(ProductSumKernels, Cuda);

}  // namespace krill::detail
