#include "sparse/coarsen/contract_passes.hpp"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

constexpr int at_once = 4;  ///< rows of A that are on their way at a time. Not varied.

/// What lanes of a team add up: entry `column` of a row of C each, -1 for none, of columns from `low` to `high`.
template <class T>
struct TeamSums {
  int lanes;
  std::int32_t column, low, high;
  T sum{};

  /// Adds an entry of each lane, those in [low, high], in the order of lanes. Every thread of the warp calls it.
  __device__ void add(std::int32_t of_entry, T value) {
    const bool wanted = of_entry >= low && of_entry <= high;
    const std::int32_t sent = wanted ? of_entry : -2;
    unsigned busy = __ballot_sync(~0u, wanted);
    for (int other = 16; other >= lanes; other /= 2) busy |= busy >> other;
    for (busy &= ~0u >> (32 - lanes); busy != 0; busy &= busy - 1) {
      const int source = __ffs(static_cast<int>(busy)) - 1, width = lanes;
      const std::int32_t to = __shfl_sync(~0u, sent, source, width);
      const T part = on_words(value, [=](unsigned word) { return __shfl_sync(~0u, word, source, width); });
      if (to == column) sum += part;
    }
  }
};

/// Entries [first, end) of a row of C, `lanes` at a time, each a lane's: all lanes load an entry of A each, and those
/// that a lane waits for go round. Every thread of the warp calls it.
template <class T, class Offset>
__device__ void sum_entries(const Contraction<T, Offset>& p, std::int64_t aggregate, std::int64_t first,
                            std::int64_t end, int lanes) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  std::int32_t r_begin = 0, r_end = 0;
  if (first < end) r_begin = p.offsets[aggregate], r_end = p.offsets[aggregate + 1];
  for (; __any_sync(~0u, first < end); first += lanes) {
    const std::int64_t at = first + lane, last = first + lanes < end ? first + lanes - 1 : end - 1;
    TeamSums<T> mine{lanes, -1, 0, -1};
    if (at < end) mine.column = p.c.col_indices[at];
    if (first < end) mine.low = p.c.col_indices[first], mine.high = p.c.col_indices[last];
    if (first >= end) r_end = r_begin;
    const auto load = [&](std::int64_t k, std::int64_t k_end, std::int32_t& column, T& value) {
      column = -1;
      if (k < k_end) column = p.of_row[p.a.col_indices[k]], value = p.a.values[k];
    };
    for (std::int32_t r = r_begin; __any_sync(~0u, r < r_end); r += lanes) {
      std::int64_t row_begin = 0, row_end = 0;  // of the lane's row
      if (r_end - r > lane) {
        const std::int32_t row = p.rows[r + lane];
        row_begin = p.a.row_offsets[row], row_end = p.a.row_offsets[row + 1];
      }
      for (int j = 0; j < lanes && __any_sync(~0u, j < r_end - r); j += at_once) {
        std::int64_t k[at_once], k_end[at_once];
        std::int32_t columns[at_once];
        T values[at_once] = {};
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          k[u] = __shfl_sync(~0u, row_begin, j + u, lanes) + lane, k_end[u] = __shfl_sync(~0u, row_end, j + u, lanes);
          load(k[u], k_end[u], columns[u], values[u]);
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          mine.add(columns[u], values[u]);
          for (k[u] += lanes; __any_sync(~0u, k[u] - lane < k_end[u]); k[u] += lanes) {
            load(k[u], k_end[u], columns[u], values[u]);
            mine.add(columns[u], values[u]);
          }
        }
      }
    }
    if (at < end) p.values[at] = mine.sum;
  }
}

// Threads: a team of `lanes` neighboring ones (a power of two up to 32) a row of C, an entry a lane; rows with pieces
//   have their warps in the other kernel. Loops end for a whole warp at a time.
// Bytes: A and its rows' list once for each `lanes` entries of a row of C, aggregates of columns as often as the caches
//   miss; C once.
// Races: an entry of C is one lane's.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads) contract_rows_kernel(Contraction<T, Offset> p, int lanes, Skip skip) {
  if (skip.now()) return;
  const int teams = sum_threads / lanes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < p.c.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t aggregate = first + threadIdx.x / lanes;
    bool there = aggregate < p.c.rows;
    if (there && p.pieces > 0) there = p.piece_starts[aggregate] == p.piece_starts[aggregate + 1];
    sum_entries(p, aggregate, there ? p.c.row_offsets[aggregate] : 0, there ? p.c.row_offsets[aggregate + 1] : 0,
                lanes);
  }
}

// Threads: a warp for each 32 entries of a long row of C.
// Bytes: the rows of A that the row of C is made of, once for each 32 of its entries. Races: none, as above.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads) contract_pieces_kernel(Contraction<T, Offset> p, Skip skip) {
  if (skip.now()) return;
  constexpr int warps = sum_threads / 32;
  const std::int64_t piece = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (piece >= p.pieces) return;
  const std::int32_t aggregate = row_of_entry(p.piece_starts, p.c.rows, piece);
  const std::int64_t end = p.c.row_offsets[aggregate + 1],
                     first = p.c.row_offsets[aggregate] + (piece - p.piece_starts[aggregate]) * 32;
  sum_entries(p, aggregate, first, end - first > 32 ? first + 32 : end, 32);
}

}  // namespace

template <class T, class Offset>
void contract(const Cuda& cuda, const Contraction<T, Offset>& p) {
  if (p.c.nnz == 0) return;
  const int lanes = contract_lanes(p.c);
  contract_rows_kernel<<<grid_blocks(cuda, p.c.rows, sum_threads / lanes), sum_threads, 0, cuda.stream>>>(p, lanes,
                                                                                                          cuda.skip);
  check(cudaGetLastError());
  if (p.pieces == 0) return;
  constexpr int warps = sum_threads / 32;
  contract_pieces_kernel<<<static_cast<unsigned>((p.pieces + warps - 1) / warps), sum_threads, 0, cuda.stream>>>(
      p, cuda.skip);
  check(cudaGetLastError());
}

template class ContractPasses<std::int32_t, Cuda>;
template class ContractPasses<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(ContractKernels, Cuda);

}  // namespace krill::detail
