#include "sparse/coarsen/contract_passes.hpp"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

/// Entries [first, end) of one row of C, `lanes` at a time, each a lane's: all lanes load an entry of A each, and those
/// that somebody waits for go round. Every thread of the warp calls it.
template <class T, class Offset>
__device__ void sum_entries(const Contraction<T, Offset>& p, std::int64_t aggregate, Offset first, Offset end,
                            int lanes) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned of_team = lanes == 32 ? ~0u : (1u << lanes) - 1;
  for (; __any_sync(~0u, first < end); first += static_cast<Offset>(lanes)) {
    const bool there = first < end;
    const Offset at = first + static_cast<Offset>(lane);
    const std::int32_t mine = at < end ? p.c.col_indices[at] : -1;
    const std::int32_t low = there ? p.c.col_indices[first] : 0;
    const Offset beyond = first + static_cast<Offset>(lanes) < end ? first + static_cast<Offset>(lanes) : end;
    const std::int32_t high = there ? p.c.col_indices[beyond - 1] : -1;
    T sum{};
    std::int32_t r = there ? p.offsets[aggregate] : 0;
    const std::int32_t r_end = there ? p.offsets[aggregate + 1] : 0;
    for (; __any_sync(~0u, r < r_end); ++r) {
      const std::int32_t row = r < r_end ? p.rows[r] : -1;
      Offset k = row >= 0 ? p.a.row_offsets[row] + static_cast<Offset>(lane) : 0;
      const Offset k_end = row >= 0 ? p.a.row_offsets[row + 1] : 0;
      const Offset team_first = k - static_cast<Offset>(row >= 0 ? lane : 0);
      for (Offset base = team_first; __any_sync(~0u, base < k_end); base += static_cast<Offset>(lanes)) {
        k = base + static_cast<Offset>(lane);
        std::int32_t column = -1;
        T value{};
        if (k < k_end) {
          column = p.of_row[p.a.col_indices[k]];
          value = p.a.values[k];
        }
        const bool wanted = column >= low && column <= high;
        if (!wanted) column = -2;
        unsigned busy = __ballot_sync(~0u, wanted);
        for (int other = 16; other >= lanes; other /= 2) busy |= busy >> other;
        for (busy &= of_team; busy != 0; busy &= busy - 1) {
          const int source = __ffs(static_cast<int>(busy)) - 1;
          const std::int32_t to = __shfl_sync(~0u, column, source, lanes);
          const T part = on_words(value, [=](unsigned word) { return __shfl_sync(~0u, word, source, lanes); });
          if (to == mine) sum += part;
        }
      }
    }
    if (mine >= 0) p.values[at] = sum;
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
    sum_entries(p, aggregate, there ? p.c.row_offsets[aggregate] : Offset{0},
                there ? p.c.row_offsets[aggregate + 1] : Offset{0}, lanes);
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
  const Offset end = p.c.row_offsets[aggregate + 1],
               first = p.c.row_offsets[aggregate] + static_cast<Offset>((piece - p.piece_starts[aggregate]) * 32);
  sum_entries(p, aggregate, first, end - first > 32 ? static_cast<Offset>(first + 32) : end, 32);
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
