#include <algorithm>
#include <bit>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/merge.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int max_lanes = 1024;  ///< that merge a group: as many as a block can have
};

/// The one row of a group that a thread merges: its cursor stays in registers.
template <class Offset, class Key>
struct OneRow {
  const CsrView<const NoValue, Offset>& a;
  const Key& key;
  std::int64_t row;
  RowCursor<Offset> cursor;

  __device__ OneRow(const CsrView<const NoValue, Offset>& matrix, const Key& key_of, std::int64_t first,
                    std::int64_t end, int)
      : a(matrix), key(key_of), row(first) {
    if (first < end) cursor = RowCursor<Offset>::of_row(matrix, first);
  }
  /// The least key greater than `last`.
  __device__ std::int32_t after(std::int32_t last) { return cursor.after(last, a.col_indices, key, row); }
};

/// Every lanes-th row of a group that has more rows than lanes: where a row has got to is found again by bisection.
template <class Offset, class Key>
struct SeveralRows {
  const CsrView<const NoValue, Offset>& a;
  const Key& key;
  std::int64_t first, end;
  int lanes;

  __device__ SeveralRows(const CsrView<const NoValue, Offset>& matrix, const Key& key_of, std::int64_t from,
                         std::int64_t to, int step)
      : a(matrix), key(key_of), first(from), end(to), lanes(step) {}
  __device__ std::int32_t after(std::int32_t last) {
    std::int32_t least = no_key;
    for (std::int64_t row = first; row < end; row += lanes) {
      const Offset k = lower_entry(a, row, key.end(row, last));
      if (k < a.row_offsets[row + 1]) least = min(least, key.of(row, a.col_indices[k]));
    }
    return least;
  }
};

/// The least of what the lanes of a team have, in all of them. Every thread of the warp calls it, and where teams are
/// blocks (more than 32 lanes), every thread of the block.
__device__ std::int32_t team_min(std::int32_t mine, int lanes) {
  for (int offset = min(lanes, 32) / 2; offset > 0; offset /= 2) mine = min(mine, __shfl_xor_sync(~0u, mine, offset));
  if (lanes <= 32) return mine;
  __shared__ std::int32_t warps[Tuning::max_lanes / 32];
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  for (int warp = 0; warp < lanes / 32; ++warp) mine = min(mine, warps[warp]);
  return mine;
}

// Threads: a team of `lanes` neighboring ones (a power of two) a group; teams of up to 32 lie in a warp, larger ones
// are blocks. A warp goes on until all its teams are through, so that shuffles find all 32 lanes, and a block's warps
// see the same key, so that they leave together. Bytes: offsets and columns once, what the sink writes. Races: a team's
// first lane alone hands on keys; shared memory is written between barriers.
template <template <class, class> class Rows, class Offset, class Key, class Sink>
__global__ void __launch_bounds__(Tuning::max_lanes)
    merge_kernel(CsrView<const NoValue, Offset> a, std::int32_t group_rows, Key key, Sink sink, int lanes, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes, teams = static_cast<int>(blockDim.x) / lanes;
  const std::int64_t groups = detail::ceil_div(a.rows, group_rows);
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < groups;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t group = first + threadIdx.x / lanes, row = group * group_rows + lane;
    const std::int64_t end = min((group + 1) * group_rows, std::int64_t{a.rows});
    Rows<Offset, Key> rows(a, key, row, end, lanes);
    std::int64_t at = group < groups ? sink.begin(group) : 0;
    for (std::int32_t least = rows.after(before_all_keys);;) {
      const std::int32_t next = team_min(least, lanes);
      if (__all_sync(~0u, next == no_key)) break;
      if (next != no_key) {
        if (lane == 0) sink.entry(at, next);
        ++at;
        least = rows.after(next);
      }
    }
    if (group < groups) sink.finish(group, at, lane, lanes);
  }
}

}  // namespace

template <class Offset, class Key, class Sink>
void merge_rows(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, std::int32_t group_rows, Key key,
                Sink sink) {
  if (a.rows == 0) return;
  group_rows = std::min(group_rows, a.rows);
  const int lanes =
      std::min(static_cast<int>(std::bit_ceil(static_cast<unsigned>(group_rows))), int{Tuning::max_lanes});
  const int threads = lanes > 32 ? lanes : sum_threads;
  const std::int64_t blocks = detail::ceil_div(detail::ceil_div(a.rows, group_rows), threads / lanes);
  const std::int64_t most = cuda.multiprocessors * (sum_blocks_per_multiprocessor * sum_threads / threads);
  const auto kernel =
      group_rows <= lanes ? merge_kernel<OneRow, Offset, Key, Sink> : merge_kernel<SeveralRows, Offset, Key, Sink>;
  kernel<<<static_cast<int>(std::min(blocks, most)), threads, 0, cuda.stream>>>(a, group_rows, key, sink, lanes,
                                                                                cuda.skip);
  check(cudaGetLastError());
}

template class MergeKernels<std::int32_t, Cuda>;
template class MergeKernels<std::int64_t, Cuda>;

}  // namespace krill::detail
