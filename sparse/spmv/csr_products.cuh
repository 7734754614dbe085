// CSR with rows of some length: a block multiplies the entries of a tile in their order, then adds up its rows.
#pragma once
#include "sparse/spmv/csr_tile.cuh"
#include "sparse/spmv/row_kernel.cuh"

namespace krill::detail {

struct ProductsTuning {
  static constexpr int threads = 512;  ///< of a block. Not varied.
  static constexpr int flight = 4;     ///< products of a thread in flight. Not varied.
  static constexpr int lanes = 2;      ///< that share a row. Not varied.
  static constexpr int alone = 16;     ///< products of a row a lane at most; longer ones are for a warp. Not varied.
  /// Blocks that a multiprocessor is to hold: with dots fewer, for spilled registers cost more (the page of the room,
  /// "Kernels come with and without dots").
  template <class T, bool with_dots>
  static constexpr int blocks = sizeof(T) > 8 ? 2
                                : with_dots   ? 3
                                              : 4;
};

// Threads: a block a tile, in a grid of as many blocks as tiles, or, where there are dots, of as many as stay. They
//   multiply the entries in order (coalesced, as many reads of x in flight whatever the rows) into shared memory; then
//   two lanes add up a row, or a warp one that is long.
// Bytes: every entry, offset and y once, x as often as the caches miss.
// Races: products are read after the first barrier of a round and written again after its second. Long rows:
//   book_part().
template <bool with_dots, class T, class Offset>
__global__ void __launch_bounds__(ProductsTuning::threads, ProductsTuning::blocks<T, with_dots>)
    csr_products_kernel(Product<CsrView<const T, Offset>> p, CsrTilesView tiles, Skip skip,
                        GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  constexpr int threads = ProductsTuning::threads, flight = ProductsTuning::flight, lanes = ProductsTuning::lanes;
  extern __shared__ __align__(16) unsigned char memory[];
  T* products = reinterpret_cast<T*>(memory);
  const auto base = static_cast<std::int32_t>(p.a.base);
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % lanes;
  RowBook<with_dots, CsrView<const T, Offset>> book(p);
  auto t = static_cast<std::int32_t>(blockIdx.x);
  do {
    const Offset tile_begin = static_cast<Offset>(tiles.tiles[t].entry);
    const int entries = static_cast<int>(static_cast<Offset>(tiles.tiles[t + 1].entry) - tile_begin);
    const T* values = p.a.values + tile_begin;
    const std::int32_t* columns = p.a.col_indices + tile_begin;
    for (int first = 0; first < entries; first += flight * threads) {
      std::int32_t column[flight];
      T value[flight];
#pragma unroll
      for (int u = 0; u < flight; ++u)
        if (const int k = first + u * threads + thread; k < entries)
          column[u] = load_streaming(columns + k), value[u] = load_streaming(values + k);
#pragma unroll
      for (int u = 0; u < flight; ++u)
        if (const int k = first + u * threads + thread; k < entries) products[k] = value[u] * p.x[column[u] - base];
    }
    __syncthreads();
    const std::int32_t first_row = tiles.tiles[t].row;
    const int rows = tiles.tiles[t + 1].row - first_row;
    const auto product = [&](int k) { return products[k]; };
    for (int first = 0; first < rows; first += threads / lanes) {
      const int r = first + thread / lanes;
      const std::int32_t row = first_row + (r < rows ? r : 0);
      const Offset begin = p.a.row_offsets[row] - base, end = p.a.row_offsets[row + 1] - base;
      const bool mine = r < rows && end - tile_begin <= entries;
      const int from = mine ? static_cast<int>(begin - tile_begin) : 0,
                to = mine ? static_cast<int>(end - tile_begin) : 0;
      const bool is_long = to - from > ProductsTuning::alone * lanes;
      T sum{};
      if (!is_long)
#pragma unroll 2  // not varied
        for (int k = from + lane; k < to; k += lanes) sum += products[k];
      sum = lanes_sum(sum, lanes);
      if (__any_sync(~0u, is_long)) sum += sum_long_segments<T>(is_long && lane == 0, from, to - from, product);
      if (mine && lane == 0) book.put(row, sum);
    }
    add_long_rows(p, tiles, t, [&](Offset k) { return products[k - tile_begin]; });
    __syncthreads();
    t += static_cast<std::int32_t>(gridDim.x);
  } while (with_dots && t < tiles.count);
  finish(book, p, tiles, scratch);
}

}  // namespace krill::detail
