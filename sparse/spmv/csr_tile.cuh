// What the kernels for CSR share: a tile as its threads see it, and long rows.
#pragma once
#include "krill/sparse/core/pass_cuda.cuh"
#include "krill/sparse/spmv/csr_tiles.hpp"
#include "krill/sparse/spmv/row_book.cuh"

namespace krill {

/// Entries [begin, end) and rows [first, past) of a tile.
template <class Offset>
struct TileBounds {
  Offset begin, end;
  std::int32_t first, past;

  __device__ static TileBounds of(const CsrTilesView& tiles, std::int32_t t) {
    const CsrTile a = tiles.tiles[t], b = tiles.tiles[t + 1];
    return {static_cast<Offset>(a.entry), static_cast<Offset>(b.entry), a.row, b.row};
  }
};

/// Leaves what tile t adds up for a long row (`part`, valid in thread 0); where that was the last part, adds all parts
/// in the order of the tiles and books the row. The whole block. Nobody waits: whoever takes the row's last ticket sees
/// the other parts, for each came before (fence) its own ticket.
template <class T, class Offset>
__device__ void book_part(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles, std::int32_t t,
                          std::int32_t row, T part) {
  const auto base = static_cast<Offset>(p.a.base);
  const auto first = static_cast<std::int32_t>(tiles.tiling.first_tile(row, p.a.row_offsets[row] - base));
  const auto last = static_cast<std::int32_t>(tiles.tiling.last_tile(row, p.a.row_offsets[row + 1] - base));
  T* sums = static_cast<T*>(tiles.sums);  // of tile t: [2 t] goes on, [2 t + 1] begins
  bool is_last = false;
  if (threadIdx.x == 0) {
    sums[2 * std::int64_t{t} + (t == first)] = part;
    __threadfence();
    is_last = atomicAdd(&tiles.arrived[first], 1u) == static_cast<unsigned>(last - first);
    __threadfence();
  }
  if (!__syncthreads_or(is_last)) return;
  T sum{};
  for (auto s = first + static_cast<std::int32_t>(threadIdx.x); s <= last; s += static_cast<std::int32_t>(blockDim.x))
    sum += load_through(sums + 2 * std::int64_t{s} + (s == first));
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  tiles.arrived[first] = 0;
  p.put(row, sum);
}

/// Reads an entry and its x.
template <class T, class Offset>
__device__ auto product_of_entry(const Product<CsrView<const T, Offset>>& p) {
  return [&p, base = static_cast<std::int32_t>(p.a.base)](Offset k) {
    return p.a.values[k] * p.x[p.a.col_indices[k] - base];
  };
}

/// The parts of long rows in tile t; term(k) is the product of entry k. After the tile's other rows, so that what is
/// rare takes few registers from what is not; all threads of the block.
template <class T, class Offset, class Term>
__device__ void add_long_rows(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles, std::int32_t t,
                              Term&& term) {
  if (tiles.long_starts[tiles.count + 1] == 0) return;
  const auto base = static_cast<Offset>(p.a.base);
  const auto tile = TileBounds<Offset>::of(tiles, t);
  const auto add = [&](Offset begin, Offset end, std::int32_t row) {
    T sum{};
    const auto count = static_cast<int>(end - begin);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) sum += term(begin + i);
    book_part(p, tiles, t, row, block_sum(sum));
  };
  const Offset first = p.a.row_offsets[tile.first] - base, past = p.a.row_offsets[tile.past] - base;
  if (tile.begin < first) add(tile.begin, min(first, tile.end), tile.first - 1);
  if (tile.end < past && tile.first < tile.past) add(p.a.row_offsets[tile.past - 1] - base, tile.end, tile.past - 1);
}

/// The same for all tiles of this block, whose entries are read again.
template <class T, class Offset>
__device__ void add_long_rows(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles) {
  if (tiles.long_starts[tiles.count + 1] == 0) return;
  for (auto t = static_cast<std::int32_t>(blockIdx.x); t < tiles.count; t += static_cast<std::int32_t>(gridDim.x))
    add_long_rows(p, tiles, t, product_of_entry(p));
}

/// Adds up the dots over the grid. A long row is booked by any block, which would make the order of the sum a matter of
/// luck: its share is added at the end.
template <bool with_dots, class T, class Offset>
__device__ void finish(const RowBook<with_dots, CsrView<const T, Offset>>& book,
                       const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles,
                       const GridScratch<typename DotsView<T>::Sum>& scratch) {
  book.finish(scratch, [&] {
    typename DotsView<T>::Sum sum;
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < tiles.long_starts[tiles.count + 1];
         i += static_cast<std::int32_t>(blockDim.x)) {
      const std::int32_t row = tiles.long_rows[i];
      sum += p.dots.row(row, p.y, load_through(p.y + row));
    }
    return sum;
  });
}

/// Of lanes that each have a segment of up to any length, the sums of those that are long, by the whole warp one after
/// the other; zero for the others. A segment is `count` entries from `begin` on, term(k) the product of entry k.
template <class T, class Index, class Term>
__device__ T sum_long_segments(bool is_long, Index begin, int count, Term&& term) {
  T mine{};
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (unsigned waiting = __ballot_sync(~0u, is_long); waiting; waiting &= waiting - 1) {
    const int owner = __ffs(static_cast<int>(waiting)) - 1, entries = __shfl_sync(~0u, count, owner);
    const Index first = __shfl_sync(~0u, begin, owner);
    T sum{};
#pragma unroll 1
    for (int i = lane; i < entries; i += 32) sum += term(first + i);
    sum = shuffle_from(lanes_sum(sum, 32), 0);
    if (lane == owner) mine = sum;
  }
  return mine;
}

}  // namespace krill
