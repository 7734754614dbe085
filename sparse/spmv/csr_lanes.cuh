// CSR with long rows: a few lanes of a warp share a row.
#pragma once
#include "sparse/spmv/csr_tile.cuh"

namespace krill::detail {

struct LanesTuning {
  static constexpr int flight = 4;  ///< products of a lane in flight. Not varied.
  static constexpr int alone = 16;  ///< entries a lane at most; longer rows are for the whole warp. Not varied.
  /// Blocks that a multiprocessor is to hold: with dots fewer, for spilled registers cost more (the page of the room,
  /// "Kernels come with and without dots").
  template <class T, bool with_dots>
  static constexpr int blocks = sizeof(T) > 8 ? 3
                                : with_dots   ? 5
                                              : 6;
};

// Threads: a block a tile, in a grid of as many blocks as tiles, or, where there are dots, of as many as stay; `lanes`
//   neighboring ones a row. Bytes: every entry, offset and y once, x as often as the caches miss.
// Races: each y_i is written by one lane. Long rows: book_part(). Whole warps stay together.
template <bool with_dots, int lanes, class T, class Offset>
__global__ void __launch_bounds__(sum_threads, LanesTuning::blocks<T, with_dots>)
    csr_lanes_kernel(Product<CsrView<const T, Offset>> p, CsrTilesView tiles, Skip skip,
                     GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  constexpr int flight = LanesTuning::flight;
  const auto base = static_cast<std::int32_t>(p.a.base);
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % lanes;
  const auto term = product_of_entry(p);
  RowBook<with_dots, CsrView<const T, Offset>> book(p);
  auto t = static_cast<std::int32_t>(blockIdx.x);
  do {
    const auto tile = TileBounds<Offset>::of(tiles, t);
    const int rows = tile.end_row - tile.first_row;
    for (int first = thread / 32 * (32 / lanes); first < rows; first += sum_threads / lanes) {  // whole warps
      const int r = first + thread % 32 / lanes;
      const std::int32_t row = tile.first_row + r;
      Offset begin = 0, end = 0;
      if (r < rows) begin = p.a.row_offsets[row] - base, end = p.a.row_offsets[row + 1] - base;
      const bool mine = r < rows && end <= tile.end;
      const int count = mine ? static_cast<int>(end - begin) : 0;
      const bool is_long = lanes < 32 && count > LanesTuning::alone * lanes;
      const auto own = book.fetch(row, mine && lane == 0);
      T sum{};
      if (!is_long)
#pragma unroll 1  // unrolled, it was a tenth slower; so it was with pointers that move on
        for (int left = count - lane; left > 0; left -= flight * lanes) {
          const Offset k = end - left;
          std::int32_t column[flight];
          T value[flight];
#pragma unroll
          for (int u = 0; u < flight; ++u)
            if (left > u * lanes)
              column[u] = p.a.col_indices[k + u * lanes], value[u] = p.a.values[k + u * lanes];
            else
              column[u] = base - 1;
#pragma unroll
          for (int u = 0; u < flight; ++u)
            if (column[u] >= base) sum += value[u] * p.x[column[u] - base];
        }
      sum = lanes_sum(sum, lanes);
      if (lanes < 32 && __any_sync(~0u, is_long)) sum += sum_long_segments<T>(is_long && lane == 0, begin, count, term);
      if (mine && lane == 0) book.put(row, sum, own);
    }
    t += static_cast<std::int32_t>(gridDim.x);
  } while (with_dots && t < tiles.count);
  add_long_rows(p, tiles);
  finish(book, p, tiles, scratch);
}

}  // namespace krill::detail
