// The rows of B that a row of A names, as a team of lanes goes along them.
#pragma once
#include <cub/block/block_scan.cuh>
#include <limits>

#include "sparse/convert/row_of_entry.hpp"
#include "sparse/spgemm/products.hpp"

namespace krill::detail {

inline constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max();
inline constexpr int at_once = 4;  ///< rows of B that are on their way at a time. Not varied.

/// Rows of C that a block works on, of those that are its share: rows of other lengths, for which other kernels are,
/// would leave its teams idle. Warps take them one after the other.
template <int max_share>
struct SharedRows {
  int count, taken;
  std::int32_t rows[max_share];

  /// Rows [first, end) for which wants(row). All threads of the block call it.
  template <class Wants>
  __device__ void fill(std::int64_t first, std::int64_t end, Wants&& wants) {
    if (threadIdx.x == 0) count = taken = 0;
    __syncthreads();
    for (std::int64_t row = first + threadIdx.x; row < end; row += blockDim.x)
      if (wants(row)) rows[atomicAdd(&count, 1)] = static_cast<std::int32_t>(row);
    __syncthreads();
  }
  /// The number of the first of `some` rows that the warp takes; `count` and more: there are no more. Every lane of the
  /// warp calls it.
  __device__ int take(int some) {
    int first = 0;
    if (threadIdx.x % 32 == 0) first = atomicAdd(&taken, some);
    return __shfl_sync(~0u, first, 0);
  }
};

/// Rows that are a block's share, at least `teams`: enough that those of one kind keep its teams busy, and not so many
/// that the device is idle. `resident`: blocks that it holds.
constexpr std::int64_t share_of_block(std::int64_t rows, int teams, std::int64_t resident, int max_share) {
  constexpr int turns = 4;  // of blocks. Not varied.
  const std::int64_t share = rows / (turns * resident);
  return share < teams ? teams : share > max_share ? max_share : share;
}

/// Rows of B that entries [k, end) of a row of A name, one for each lane of a team.
template <class Offset>
struct RowsOfB {
  Offset first = 0;
  int length = 0;

  template <class T, class V>
  __device__ RowsOfB(const CsrView<T, Offset>& a, const CsrView<V, Offset>& b, Offset k, Offset end, int lane) {
    if (k + lane >= end) return;
    const std::int32_t row = a.col_indices[k + lane];
    first = b.row_offsets[row], length = static_cast<int>(b.row_offsets[row + 1] - first);
  }
};

/// The lanes of a team go along the rows of B, one after the other, the u-th of four of which is on its way:
/// prepare(u, j) for row j of the team's, by all lanes; fetch(u, place in B), then use(u, number in the row) for each
/// entry, by its lane; after_row(), by all. Every thread of the warp calls it.
template <class Offset, class Prepare, class Fetch, class Use, class AfterRow>
__device__ void for_rows_of_b(const RowsOfB<Offset>& mine, int lanes, Prepare&& prepare, Fetch&& fetch, Use&& use,
                              AfterRow&& after_row) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  unsigned busy = __ballot_sync(~0u, mine.length > 0);  // bit j: row j of some team has entries
  for (int other = 16; other >= lanes; other /= 2) busy |= busy >> other;
  for (int j = 0; j < lanes && busy >> j != 0; j += at_once) {
    if ((busy >> j & (1u << at_once) - 1) == 0) continue;
    Offset first[at_once];
    int length[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      first[u] = __shfl_sync(~0u, mine.first, j + u, lanes);
      length[u] = __shfl_sync(~0u, mine.length, j + u, lanes);
      prepare(u, j + u);
      if (lane < length[u]) fetch(u, first[u] + lane);
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      if (lane < length[u]) use(u, lane);
      for (int e = lane + lanes; e < length[u]; e += lanes) fetch(u, first[u] + e), use(u, e);
      after_row();
    }
  }
}

/// The lanes of a warp share all entries of 32 rows of B, one after the other: fetch(u, place in B), then use(u), for
/// the u-th of four that are on their way, until is_enough() in some lane. `bases` is room for 32 in shared memory.
/// Every thread of the warp calls it.
template <class Offset, class Fetch, class Use, class IsEnough>
__device__ void for_products(const RowsOfB<Offset>& mine, Offset* bases, Fetch&& fetch, Use&& use,
                             IsEnough&& is_enough) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int start = mine.length;  // of the row's entries among all
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(~0u, start, offset);
    if (lane >= offset) start += other;
  }
  const int total = __shfl_sync(~0u, start, 31);
  start -= mine.length;
  const unsigned rows = __ballot_sync(~0u, mine.length > 0);
  __syncwarp();  // others may still be reading bases
  if (mine.length > 0) bases[__popc(rows & (1u << lane) - 1)] = mine.first - start;
  __syncwarp();
  int begun = 0;  // rows with an entry before those that are looked at
  for (int from = 0; from < total && !__any_sync(~0u, is_enough()); from += 32 * at_once) {
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const auto place = static_cast<unsigned>(start - from - 32 * u);
      const unsigned starts = __reduce_or_sync(~0u, mine.length > 0 && place < 32 ? 1u << place : 0u);
      const int row = begun + __popc(starts & ~0u >> (31 - lane)) - 1, p = from + 32 * u + lane;
      begun += __popc(starts);
      if (p < total) fetch(u, bases[row] + p);
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (from + 32 * u + lane < total) use(u);
  }
}

/// Rows of B that a thread has, as entries of a row of A name them. What is loaded is used a step later, so that all
/// loads of a step are under way at once.
template <int count, class Offset>
struct NamedRows {
  std::int32_t row[count];
  Offset first[count], end[count];

  /// Those of entries [k, k + count) of A; none from `end_of_row` on.
  template <class T>
  __device__ void name(const CsrView<T, Offset>& a, std::int64_t k, Offset end_of_row) {
#pragma unroll
    for (int j = 0; j < count; ++j) row[j] = k + j < end_of_row ? a.col_indices[k + j] : no_column;
  }
  template <class V>
  __device__ void find(const CsrView<V, Offset>& b) {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      first[j] = row[j] == no_column ? 0 : b.row_offsets[row[j]];
      end[j] = row[j] == no_column ? 0 : b.row_offsets[row[j] + 1];
    }
  }
  /// Keeps entries of columns [low, high).
  template <class V>
  __device__ void restrict(const CsrView<V, Offset>& b, std::int64_t low, std::int64_t high) {
    if (low > 0) bisect(b.col_indices, first, end, low);
    if (high < b.cols) {
      Offset from[count];
#pragma unroll
      for (int j = 0; j < count; ++j) from[j] = first[j];
      bisect(b.col_indices, from, end, high);
#pragma unroll
      for (int j = 0; j < count; ++j) end[j] = from[j];
    }
  }

 private:
  /// at[j] = lower_entry() of [at[j], end[j]) and `col`; a step of all bisections at a time.
  static __device__ void bisect(const std::int32_t* col_indices, Offset (&at)[count], const Offset (&end)[count],
                                std::int64_t col) {
    Offset to[count];
#pragma unroll
    for (int j = 0; j < count; ++j) to[j] = end[j];
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      std::int32_t found[count];
#pragma unroll
      for (int j = 0; j < count; ++j) found[j] = at[j] < to[j] ? col_indices[at[j] + (to[j] - at[j]) / 2] : 0;
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const Offset middle = at[j] + (to[j] - at[j]) / 2;
        if (at[j] < to[j]) found[j] < col ? at[j] = middle + 1 : to[j] = middle;
        goes_on |= at[j] < to[j];
      }
    }
  }
};

/// What the threads of a block share while they go along rows of B, some rows to each.
template <int threads, int rows_each, class Offset>
struct SharedRowsOfB {
  using Scan = cub::BlockScan<std::int64_t, threads, cub::BLOCK_SCAN_WARP_SCANS>;  // which needs little room
  typename Scan::TempStorage scan;
  std::int64_t before[rows_each * threads];  ///< entries in columns [low, high) of all rows before each
  Offset first[rows_each * threads];         ///< such entry of each row
};

/// Entries of columns [low, high) in the rows of B that entries [k, end) of a row of A name, divided evenly among the
/// threads of a block however long the rows are: fetch(u, entry of A, entry of B) by a thread of its own, then
/// use(count) by all threads, for up to threads x each entries, the one that thread t fetched as its u-th being number
/// u threads + t. In the order of A's row. All threads of the block call it. While some rows are gone through, the next
/// ones are on their way.
template <int each, int threads, int rows_each, class T, class V, class Offset, class Fetch, class Use>
__device__ void for_entries_of_rows(SharedRowsOfB<threads, rows_each, Offset>& shared, const CsrView<T, Offset>& a,
                                    const CsrView<V, Offset>& b, Offset k, Offset end, std::int64_t low,
                                    std::int64_t high, Fetch&& fetch, Use&& use) {
  constexpr int together = rows_each * threads;
  const int thread = static_cast<int>(threadIdx.x), mine = thread * rows_each;
  NamedRows<rows_each, Offset> next;
  next.name(a, std::int64_t{k} + mine, end);
  next.find(b);
  next.name(a, std::int64_t{k} + together + mine, end);
  for (std::int64_t at = k; at < end; at += together) {
    next.restrict(b, low, high);
    std::int64_t own = 0, before = 0, total = 0;
#pragma unroll
    for (int j = 0; j < rows_each; ++j) own += next.end[j] - next.first[j];
    typename SharedRowsOfB<threads, rows_each, Offset>::Scan(shared.scan).ExclusiveSum(own, before, total);
#pragma unroll
    for (int j = 0; j < rows_each; ++j) {
      shared.first[mine + j] = next.first[j], shared.before[mine + j] = before;
      before += next.end[j] - next.first[j];
    }
    next.find(b);
    next.name(a, at + 2 * together + mine, end);
    __syncthreads();
    for (std::int64_t begin = 0; begin < total; begin += threads * each) {
#pragma unroll
      for (int u = 0; u < each; ++u)
        if (const std::int64_t number = begin + u * threads + thread; number < total) {
          const std::int32_t row = row_of_entry(shared.before, together, number);
          fetch(u, static_cast<Offset>(at + row),
                static_cast<Offset>(shared.first[row] + (number - shared.before[row])));
        }
      use(static_cast<int>(min(total - begin, std::int64_t{threads * each})));
    }
    __syncthreads();
  }
}

}  // namespace krill::detail
