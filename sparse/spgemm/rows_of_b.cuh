// The rows of B that a row of A names, as a team of lanes goes along them.
#pragma once
#include <limits>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/spgemm/products.hpp"

namespace krill::detail {

inline constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max();
inline constexpr int at_once = 4;  ///< rows of B that are on their way at a time. Not varied.

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
  /// Keeps entries of columns [low, high].
  __device__ void restrict(const std::int32_t* columns, std::int32_t low, std::int32_t high) {
    const Offset end = first + length;
    first = lower_entry(columns, first, end, low);
    length = static_cast<int>(lower_entry(columns, first, end, std::int64_t{high} + 1) - first);
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
/// the u-th of four that are on their way. `bases` is room for 32 in shared memory. Every thread of the warp calls it.
template <class Offset, class Fetch, class Use>
__device__ void for_products(const RowsOfB<Offset>& mine, Offset* bases, Fetch&& fetch, Use&& use) {
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
  for (int from = 0; from < total; from += 32 * at_once) {
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

}  // namespace krill::detail
