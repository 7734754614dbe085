// What the kernels for CSR share: a tile as its threads see it, and long rows.
#pragma once
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/csr_tiles.hpp"
#include "sparse/spmv/row_book.cuh"

namespace krill::detail {

/// Entries [begin, end) and rows [first_row, end_row) of a tile; see CsrTile::began.
template <class Offset>
struct TileBounds {
  Offset begin, end;
  std::int32_t first_row, end_row, began;

  __device__ static TileBounds of(const CsrTilesView& tiles, std::int32_t t) {
    const CsrTile a = tiles.tiles[t], b = tiles.tiles[t + 1];
    return {static_cast<Offset>(a.entry), static_cast<Offset>(b.entry), a.row, b.row, a.began};
  }
};

/// Whether there are long rows at all.
__device__ inline bool has_long_rows(const CsrTilesView& tiles) { return tiles.long_starts[tiles.count + 1] != 0; }

/// The partial sums that tiles leave of a long row, `width` of them a tile. No tile waits for another: each stores its
/// sums, then adds its number of entries to a counter (arrive()). The tile that completes the counter adds up all parts
/// in the order of the tiles; fences around the counter make them visible. The tile in which a row begins may have none
/// of its entries; it has no part then, because an arrival with 0 entries could be taken for the last one.
template <class T>
class LongRow {
 public:
  /// The row begins in tile `first` and has the entries [begin, end).
  __device__ LongRow(const CsrTilesView& tiles, std::int32_t first, std::int64_t begin, std::int64_t end, int width = 1)
      : tiles_(tiles), first_(first), begin_(begin), end_(end), width_(width) {}

  /// The sums of tile t.
  __device__ T* part(std::int32_t t) const {  // two places a tile: of the row that goes on, of the one that begins
    return static_cast<T*>(tiles_.sums) + (2 * std::int64_t{t} + (t == first_)) * width_;
  }
  /// Called by the thread that stored the sums of a tile with `entries` > 0 entries: true if all others are there.
  __device__ bool arrive(unsigned entries) const {
    __threadfence();
    const bool is_last = atomicAdd(tiles_.arrived + first_, entries) + entries == static_cast<unsigned>(end_ - begin_);
    __threadfence();
    if (is_last) tiles_.arrived[first_] = 0;
    return is_last;
  }
  /// The share of one of `threads` threads in the sum of all parts' i-th sums.
  __device__ T share(int i, int thread, int threads) const {
    T sum{};
    for (std::int32_t t = first_ + thread; t < tiles_.count && tiles_.tiles[t].entry < end_; t += threads)
      if (tiles_.tiles[t + 1].entry > begin_) sum += load_through(part(t) + i);
    return sum;
  }

 private:
  const CsrTilesView& tiles_;
  std::int32_t first_;
  std::int64_t begin_, end_;
  int width_;
};

/// Stores the sums of tile t, which has `entries` entries of the row: part(i) is the i-th sum, valid in thread 0. If
/// these were the last entries, thread 0 calls put(i, sum) with the whole sums. Called by the whole block.
template <class T, class Part, class Put>
__device__ void book_part(const LongRow<T>& row, std::int32_t t, unsigned entries, int width, Part&& part, Put&& put) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = 0; i < width; ++i) {
    const T sum = part(i);
    if (thread == 0) row.part(t)[i] = sum;
  }
  if (!__syncthreads_or(thread == 0 && row.arrive(entries))) return;
  for (int i = 0; i < width; ++i) {
    const T sum = block_sum(row.share(i, thread, static_cast<int>(blockDim.x)));
    if (thread == 0) put(i, sum);
  }
}

/// add(row, first, begin, end) for the parts of long rows in tile t: the row begins in tile `first`. row_offsets[i] is
/// counted from base. All threads of the block.
template <class Offset, class Offsets, class Add>
__device__ void for_parts(const CsrTilesView& tiles, std::int32_t t, Offsets row_offsets, Offset base, Add&& add) {
  const auto tile = TileBounds<Offset>::of(tiles, t);
  const Offset first = row_offsets[tile.first_row] - base, last_end = row_offsets[tile.end_row] - base;
  if (tile.begin < first) add(tile.first_row - 1, tile.began, tile.begin, min(first, tile.end));
  if (tile.end == last_end || tile.first_row == tile.end_row) return;
  const Offset begin = row_offsets[tile.end_row - 1] - base;
  if (begin < tile.end) add(tile.end_row - 1, t, begin, tile.end);
}

/// Reads an entry and its x.
template <class T, class Offset>
__device__ auto product_of_entry(const Product<CsrView<const T, Offset>>& p) {
  return [&p, base = static_cast<std::int32_t>(p.a.base)](Offset k) {
    return p.a.values[k] * p.x[p.a.col_indices[k] - base];
  };
}

/// Adds the parts of long rows in tile t; term(k) is the product of entry k. It runs after the tile's other rows, so
/// that this rare case takes few registers from the common one. Called by all threads of the block.
template <class T, class Offset, class Term>
__device__ void add_long_rows(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles, std::int32_t t,
                              Term&& term) {
  if (!has_long_rows(tiles)) return;
  const auto base = static_cast<Offset>(p.a.base);
  for_parts(tiles, t, p.a.row_offsets, base, [&](std::int32_t row, std::int32_t first, Offset begin, Offset end) {
    const auto count = static_cast<int>(end - begin);
    const auto part = [&](int) {
      T sum{};
      for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) sum += term(begin + i);
      return block_sum(sum);
    };
    const Offset row_begin = p.a.row_offsets[row] - base, row_end = p.a.row_offsets[row + 1] - base;
    book_part(LongRow<T>(tiles, first, row_begin, row_end), t, static_cast<unsigned>(count), 1, part,
              [&](int, T sum) { p.put(row, sum); });
  });
}

/// The same for all tiles of this block; their entries are read again.
template <class T, class Offset>
__device__ void add_long_rows(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles) {
  if (!has_long_rows(tiles)) return;
  for (auto t = static_cast<std::int32_t>(blockIdx.x); t < tiles.count; t += static_cast<std::int32_t>(gridDim.x))
    add_long_rows(p, tiles, t, product_of_entry(p));
}

/// Adds up the dots over the grid. Which block completes a long row differs from run to run, so the shares of long rows
/// are added at the end, in their order. A row of the tiles is `width` rows of the matrix.
template <bool with_dots, class View, class Sum>
__device__ void finish(const RowBook<with_dots, View>& book, const Product<View>& p, const CsrTilesView& tiles,
                       const GridScratch<Sum>& scratch, int width = 1) {
  book.finish(scratch, [&] {
    Sum sum;
    if (!tiles.tiles) return sum;
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < tiles.long_starts[tiles.count + 1];
         i += static_cast<std::int32_t>(blockDim.x))
      for (int r = 0; r < width; ++r) {
        const std::int64_t row = std::int64_t{tiles.long_rows[i]} * width + r;
        if (row < p.a.rows) sum += p.dots.row(row, p.y, load_through(p.y + row));
      }
    return sum;
  });
}

/// Each lane of a warp has a segment: `count` entries from `begin` on, where term(k) is the product of entry k. The
/// warp adds up the long segments together, one after the other. Returns a lane's sum; zero where its segment is not
/// long.
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

}  // namespace krill::detail
