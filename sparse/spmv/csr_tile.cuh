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
  bool is_uneven;

  __device__ static TileBounds of(const CsrTilesView& tiles, std::int32_t t) {
    const CsrTile a = tiles.tiles[t], b = tiles.tiles[t + 1];
    return {static_cast<Offset>(a.entry), static_cast<Offset>(b.entry), a.row, b.row, a.is_uneven != 0};
  }
};

/// Whether there are long rows at all.
__device__ inline bool has_long_rows(const CsrTilesView& tiles) { return tiles.long_starts[tiles.count + 1] != 0; }

/// What tiles leave of a long row: `width` sums each. Nobody waits: whoever takes the row's last ticket sees the other
/// parts, for each came before (fence) its own ticket, and adds them all in the order of the tiles.
template <class T>
class LongRow {
 public:
  /// The row has the entries [begin, end).
  __device__ LongRow(const CsrTilesView& tiles, std::int32_t row, std::int64_t begin, std::int64_t end, int width = 1)
      : sums_(static_cast<T*>(tiles.sums)),
        first_(static_cast<std::int32_t>(tiles.tiling.first_tile(row, begin))),
        last_(static_cast<std::int32_t>(tiles.tiling.last_tile(row, end))),
        width_(width),
        arrived_(tiles.arrived + first_) {}

  /// The sums of tile t.
  __device__ T* part(std::int32_t t) const {  // two places a tile: of the row that goes on, of the one that begins
    return sums_ + (2 * std::int64_t{t} + (t == first_)) * width_;
  }
  /// By the thread that left a tile's sums: true where it was the last tile.
  __device__ bool arrive() const {
    __threadfence();
    const bool is_last = atomicAdd(arrived_, 1u) == static_cast<unsigned>(last_ - first_);
    __threadfence();
    if (is_last) *arrived_ = 0;
    return is_last;
  }
  /// What one of `threads` adds up of all parts' i-th sums.
  __device__ T share(int i, int thread, int threads) const {
    T sum{};
#pragma unroll 4
    for (std::int32_t t = first_ + thread; t <= last_; t += threads) sum += load_through(part(t) + i);
    return sum;
  }

 private:
  T* sums_;
  std::int32_t first_, last_, width_;
  unsigned* arrived_;
};

/// Leaves what tile t adds up: part(i) is the i-th sum, valid in thread 0. Where that was the last part, thread 0 calls
/// put(i, sum). The whole block.
template <class T, class Part, class Put>
__device__ void book_part(const LongRow<T>& row, std::int32_t t, int width, Part&& part, Put&& put) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = 0; i < width; ++i) {
    const T sum = part(i);
    if (thread == 0) row.part(t)[i] = sum;
  }
  if (!__syncthreads_or(thread == 0 && row.arrive())) return;
  for (int i = 0; i < width; ++i) {
    const T sum = block_sum(row.share(i, thread, static_cast<int>(blockDim.x)));
    if (thread == 0) put(i, sum);
  }
}

/// add(begin, end, row) for the parts of long rows in tile t. All threads of the block.
template <class Offset, class Add>
__device__ void for_parts(const CsrTilesView& tiles, std::int32_t t, const Offset* row_offsets, Offset base,
                          Add&& add) {
  const auto tile = TileBounds<Offset>::of(tiles, t);
  const Offset first = row_offsets[tile.first] - base, past = row_offsets[tile.past] - base;
  if (tile.begin < first) add(tile.begin, min(first, tile.end), tile.first - 1);
  if (tile.end < past && tile.first < tile.past) add(row_offsets[tile.past - 1] - base, tile.end, tile.past - 1);
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
  if (!has_long_rows(tiles)) return;
  const auto base = static_cast<Offset>(p.a.base);
  for_parts(tiles, t, p.a.row_offsets, base, [&](Offset begin, Offset end, std::int32_t row) {
    const auto part = [&](int) {
      T sum{};
      const auto count = static_cast<int>(end - begin);
      for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) sum += term(begin + i);
      return block_sum(sum);
    };
    book_part(LongRow<T>(tiles, row, p.a.row_offsets[row] - base, p.a.row_offsets[row + 1] - base), t, 1, part,
              [&](int, T sum) { p.put(row, sum); });
  });
}

/// The same for all tiles of this block, whose entries are read again.
template <class T, class Offset>
__device__ void add_long_rows(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles) {
  if (!has_long_rows(tiles)) return;
  for (auto t = static_cast<std::int32_t>(blockIdx.x); t < tiles.count; t += static_cast<std::int32_t>(gridDim.x))
    add_long_rows(p, tiles, t, product_of_entry(p));
}

/// Adds up the dots over the grid. A long row is booked by any block, which would make the order of the sum a matter of
/// luck: its share is added at the end. A row of the tiles is `width` rows of the matrix.
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
