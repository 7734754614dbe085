#include <algorithm>
#include <bit>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/merge_pair.hpp"

namespace krill::detail {
namespace {

/// Lanes that have a row.
struct VotingTeam {
  int lanes, lane, shift;  ///< `shift`: its first lane in the warp

  __device__ explicit VotingTeam(int size)
      : lanes(size),
        lane(static_cast<int>(threadIdx.x) % size),
        shift(static_cast<int>(threadIdx.x) % 32 / size * size) {}
  /// In which lanes of the team `mine` holds, lane 0 lowest. Every thread of the warp calls it.
  __device__ unsigned vote(bool mine) const {
    const unsigned of_warp = __ballot_sync(~0u, mine);
    return lanes == 32 ? of_warp : of_warp >> shift & ((1u << lanes) - 1);
  }
};

/// For each entry k of a row of `a`: use(k, its place in the union, its place in `b` or absent), which is first sought
/// where patterns that are alike have it. Returns how many are in both. Every thread of the warp calls it, with an
/// empty row where there is none.
template <class Offset, class Use>
__device__ std::int64_t rank_entries(const VotingTeam& team, const std::int32_t* a_cols, Offset a_begin, Offset a_end,
                                     const std::int32_t* b_cols, Offset b_begin, Offset b_end, Use&& use) {
  std::int64_t common = 0;
  for (std::int64_t first = a_begin; __any_sync(~0u, first < a_end); first += team.lanes) {
    const std::int64_t k = first + team.lane;
    const bool inside = k < a_end;
    const std::int32_t col = inside ? a_cols[k] : 0;
    std::int64_t found = inside ? b_begin + (k - a_begin) : std::int64_t{b_end};
    bool in_both = found < b_end && b_cols[found] == col;
    if (inside && !in_both) {
      found = lower_entry(b_cols, b_begin, b_end, col);
      in_both = found < b_end && b_cols[found] == col;
    }
    const unsigned votes = team.vote(in_both);
    const std::int64_t before = common + __popc(votes & ((1u << team.lane) - 1));
    if (inside) use(k, (k - a_begin) + (found - b_begin) - before, in_both ? found : absent);
    common += __popc(votes);
  }
  return common;
}

/// Where a row of A, and of B, and of their union begins, on its way while the row before is worked on.
template <class Offset>
struct PairOfRows {
  Offset a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
  std::int64_t row = 0, begin = 0;
  bool there = false;

  template <class Sink>
  __device__ PairOfRows(const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                        const Sink& sink, std::int64_t row)
      : row(row), there(row < a.rows) {
    if (!there) return;
    a_begin = a.row_offsets[row], a_end = a.row_offsets[row + 1];
    b_begin = b.row_offsets[row], b_end = b.row_offsets[row + 1];
    begin = sink.begin(row);
  }
};

// Threads: a team of `lanes` neighboring ones (a power of two up to 32) a row; an entry's place in the union is its
//   place in its own row and its rank in the other, less what both have before it. A warp goes on until all its teams
//   are through, so that votes find all 32 lanes.
// Bytes: both patterns once, the caches hold rows for the searches; what the sink reads and writes. B's row is not gone
//   through where A's has all of it.
// Races: an entry of the union is handed on by one lane, those of both by A's.
template <class Offset, class Sink>
__global__ void __launch_bounds__(sum_threads)
    merge_pair_kernel(CsrView<const NoValue, Offset> a, CsrView<const NoValue, Offset> b, Sink sink, int lanes,
                      Skip skip) {
  if (skip.now()) return;
  const VotingTeam team(lanes);
  const std::int64_t teams = sum_threads / lanes, stride = gridDim.x * teams, team_of_block = threadIdx.x / lanes;
  std::int64_t first = blockIdx.x * teams;
  PairOfRows<Offset> next(a, b, sink, first + team_of_block);
  while (first < a.rows) {
    const PairOfRows<Offset> r = next;
    first += stride;
    next = PairOfRows<Offset>(a, b, sink, first + team_of_block);
    const std::int64_t common = rank_entries(team, a.col_indices, r.a_begin, r.a_end, b.col_indices, r.b_begin, r.b_end,
                                             [&](std::int64_t k, std::int64_t at, std::int64_t in_b) {
                                               sink.entry(r.begin + at, a.col_indices[k], k, in_b);
                                             });
    const std::int64_t of_b = r.b_end - r.b_begin;
    if (r.there && team.lane == 0) sink.finish(r.row, r.begin + (r.a_end - r.a_begin) + of_b - common);
    if (std::is_same_v<Sink, CountUnion> || !__any_sync(~0u, common < of_b)) continue;
    rank_entries(team, b.col_indices, r.b_begin, r.b_end, a.col_indices, r.a_begin, r.a_end,
                 [&](std::int64_t k, std::int64_t at, std::int64_t in_a) {
                   if (in_a == absent) sink.entry(r.begin + at, b.col_indices[k], absent, k);
                 });
  }
}

}  // namespace

template <class Offset, class Sink>
void merge_pair(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                Sink sink) {
  if (a.rows == 0) return;
  const auto mean = static_cast<std::uint64_t>((a.nnz + b.nnz) / (2 * std::int64_t{a.rows}) + 1);
  const int lanes = static_cast<int>(std::min<std::uint64_t>(std::bit_ceil(mean), 32));
  constexpr auto kernel = merge_pair_kernel<Offset, Sink>;
  const int blocks = std::min(resident_blocks<kernel>(cuda), grid_blocks(cuda, a.rows, sum_threads / lanes));
  kernel<<<blocks, sum_threads, 0, cuda.stream>>>(a, b, sink, lanes, cuda.skip);
  check(cudaGetLastError());
}

template class PairKernels<std::int32_t, Cuda>;
template class PairKernels<std::int64_t, Cuda>;

}  // namespace krill::detail
