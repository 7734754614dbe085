// A matrix by rows times a dense matrix: tiles of about as many entries each, whatever the rows look like, as products
// with a vector have them. A block brings the entries of its tile into shared memory once, for all columns of the
// launch.
#pragma once
#include <algorithm>
#include <bit>

#include "sparse/spmm/lines.cuh"
#include "sparse/spmm/spmm.hpp"
#include "sparse/spmm/tiling.hpp"
#include "sparse/spmv/csr_tile.cuh"
#include "sparse/spmv/row_kernel.cuh"

namespace krill::detail {

/// Entries of a row that a thread asks for before it uses the first, with one column. Not varied.
template <class T>
constexpr int entries_in_flight = sizeof(T) > 8 ? 4 : 8;
/// Blocks that a multiprocessor is to hold at least, 0: no word to the compiler, whose choice is better than 1 (64
/// registers in place of 90 for 8 columns, and three quarters of the time). Not varied.
template <class T>
constexpr int resident_tiles(int columns) {
  return columns > 1 ? 0 : sizeof(T) > 4 ? 4 : 5;
}

/// A load of what is read once, of any size.
template <class T>
__device__ T load_once(const T* from) {
  if constexpr (sizeof(T) == 1)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const signed char*>(from)));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const unsigned short*>(from)));
  else
    return load_streaming(from);
}

/// The entries of a tile, in shared memory.
template <class T>
struct TileEntries {
  T* values;
  std::int32_t* columns;

  template <class Products, class Offset>
  __device__ TileEntries(unsigned char* memory, const CsrTiling& tiling, const Products& p,
                         const TileBounds<Offset>& tile)
      : values(reinterpret_cast<T*>(memory)), columns(reinterpret_cast<std::int32_t*>(values + tiling.capacity())) {
    const auto base = static_cast<std::int32_t>(p.a.base);
    const auto count = static_cast<int>(tile.end - tile.begin);
#pragma unroll 4
    for (int k = static_cast<int>(threadIdx.x); k < count; k += SpmmTiling::threads)
      columns[k] = load_streaming(p.a.col_indices + tile.begin + k) - base,
      values[k] = p.widened(load_once(p.a.values + tile.begin + k));
    __syncthreads();
  }
  static std::size_t bytes(const CsrTiling& tiling) {
    return static_cast<std::size_t>(tiling.capacity()) * (sizeof(T) + sizeof(std::int32_t));
  }
};

/// Entries [from, to) of a row of the tile, as places in it; none where the row is long, or there is no such row.
struct Segment {
  int from = 0, to = 0;
  std::int32_t row = -1;

  template <class Products, class Offset>
  __device__ Segment(const Products& p, const TileBounds<Offset>& tile, int r) {
    if (r >= tile.end_row - tile.first_row) return;
    const auto base = static_cast<Offset>(p.a.base);
    const std::int32_t i = tile.first_row + r;
    const Offset begin = p.a.row_offsets[i] - base, end = p.a.row_offsets[i + 1] - base;
    if (end > tile.end) return;
    row = i, from = static_cast<int>(begin - tile.begin), to = static_cast<int>(end - tile.begin);
  }
};

/// Adds the parts of long rows, a column after the other; all threads of the block.
template <class Products, class T, class Offset = typename Products::Offset>
__device__ void add_long_rows(const Products& p, const CsrTilesView& tiles, const TileBounds<Offset>& tile,
                              const TileEntries<T>& entries) {
  if (!has_long_rows(tiles)) return;
  const auto base = static_cast<Offset>(p.a.base);
  const auto t = static_cast<std::int32_t>(blockIdx.x);
  for_parts(tiles, t, p.a.row_offsets, base, [&](std::int32_t row, std::int32_t first, Offset begin, Offset end) {
    const int from = static_cast<int>(begin - tile.begin), to = static_cast<int>(end - tile.begin);
    const auto part = [&](int c) {
      T sum{};
      for (int k = from + static_cast<int>(threadIdx.x); k < to; k += SpmmTiling::threads)
        sum += p.times(entries.values[k], p.b.at(entries.columns[k], c));
      return block_sum(sum);
    };
    const LongRow<T> whole(tiles, first, p.a.row_offsets[row] - base, p.a.row_offsets[row + 1] - base, p.b.cols);
    book_part(whole, t, static_cast<unsigned>(to - from), p.b.cols, part, [&](int c, T sum) { p.put(row, c, sum); });
  });
}

// Threads: a block a tile; `lanes` neighboring ones a row, each with the sums of all columns. Neighboring rows read
//   neighboring entries of a column of B, and write such of C.
// Bytes: A and C once, B as often as the caches miss.
// Races: an entry of C is one lane's. Whole warps stay together. Long rows: book_part().
template <int columns, class Products>
__device__ __forceinline__ void multiply_narrow(const Products& p, const CsrTilesView& tiles, int lanes) {
  using T = typename Products::Sum;
  extern __shared__ __align__(16) unsigned char memory[];
  const auto tile = TileBounds<typename Products::Offset>::of(tiles, static_cast<std::int32_t>(blockIdx.x));
  const TileEntries<T> entries(memory, tiles.tiling, p, tile);
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % lanes;
  const bool by_rows = p.b.order == Order::row_major;
  const std::int64_t row_step = by_rows ? p.b.leading_dimension : 1, column_step = by_rows ? 1 : p.b.leading_dimension;
  const int rows = tile.end_row - tile.first_row;
  const auto add = [&](T(&sums)[columns], int k) {
    const T value = entries.values[k];
    const auto* b = p.b.values + entries.columns[k] * row_step;
#pragma unroll
    for (int c = 0; c < columns; ++c, b += column_step)
      if (c < p.b.cols) sums[c] += p.times(value, *b);
  };
  const auto put = [&](T(&sums)[columns], std::int32_t row, int lanes_of_row) {
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const T sum = lanes_sum(sums[c], lanes_of_row);
      if (c < p.b.cols && row >= 0 && thread % lanes_of_row == 0) p.put(row, c, sum);
    }
  };
  bool some_for_warps = false;
  for (int first = thread / 32 * (32 / lanes); first < rows; first += SpmmTiling::threads / lanes) {
    const Segment s(p, tile, first + thread % 32 / lanes);
    const bool for_warp = s.to - s.from > SpmmTiling::alone * lanes;
    T sums[columns] = {};
    const int from = for_warp ? s.to : s.from + lane;
    if constexpr (columns == 1) {
      constexpr int flight = entries_in_flight<T>;
      for (int left = s.to - from, k = from; left > 0; left -= flight * lanes, k += flight * lanes) {
        typename Products::Vector entry[flight];
#pragma unroll
        for (int u = 0; u < flight; ++u)
          if (left > u * lanes) entry[u] = p.b.values[entries.columns[k + u * lanes] * row_step];
#pragma unroll
        for (int u = 0; u < flight; ++u)
          if (left > u * lanes) sums[0] += p.times(entries.values[k + u * lanes], entry[u]);
      }
    } else {
#pragma unroll 2
      for (int k = from; k < s.to; k += lanes) add(sums, k);
    }
    put(sums, for_warp ? -1 : s.row, lanes);
    some_for_warps |= for_warp;
  }
  if (__syncthreads_or(some_for_warps))
    for (int r = thread / 32; r < rows; r += SpmmTiling::threads / 32) {
      const Segment s(p, tile, r);
      if (s.to - s.from <= SpmmTiling::alone * lanes) continue;
      T sums[columns] = {};
#pragma unroll 1
      for (int k = s.from + thread % 32; k < s.to; k += 32) add(sums, k);
      put(sums, s.row, 32);
    }
  add_long_rows(p, tiles, tile, entries);
}
template <int columns, class Products>
__global__ void __launch_bounds__(SpmmTiling::threads, resident_tiles<typename Products::Sum>(columns))
    narrow_kernel(Products p, CsrTilesView tiles, int lanes, Skip skip) {
  if (!skip.now()) multiply_narrow<columns>(p, tiles, lanes);
}

// The same with a block for each tile (x) and group of columns (y), which has room of its own for the sums of long
// rows.
template <class Products>
__global__ void __launch_bounds__(SpmmTiling::threads)
    narrow_groups_kernel(Products p, CsrTilesView tiles, int lanes, Skip skip) {
  if (skip.now()) return;
  constexpr int group = SpmmTiling::narrow;
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.y) * group;
  tiles.sums = static_cast<typename Products::Sum*>(tiles.sums) + 2 * std::int64_t{blockIdx.y} * tiles.count * group;
  tiles.arrived += std::int64_t{blockIdx.y} * tiles.count;
  multiply_narrow<group>(columns_of(p, first, min(group, p.b.cols - first)), tiles, lanes);
}

// Threads: a block a tile; `lanes` neighboring ones a row, each with `count` columns side by side. B is row-major, so
//   that the lanes of a row read whole lines; C is, too, where lanes write theirs `at_once`.
// Bytes, races: as the kernel above.
template <int count, bool at_once, class Products>
__global__ void __launch_bounds__(SpmmTiling::threads)
    wide_kernel(Products p, CsrTilesView tiles, int lanes, Skip skip) {
  using T = typename Products::Sum;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  const auto tile = TileBounds<typename Products::Offset>::of(tiles, static_cast<std::int32_t>(blockIdx.x));
  const TileEntries<T> entries(memory, tiles.tiling, p, tile);
  const auto thread = static_cast<int>(threadIdx.x), column = thread % lanes * count;
  const int rows = tile.end_row - tile.first_row;
  for (int r = thread / lanes; r < rows && column < p.b.cols; r += SpmmTiling::threads / lanes) {
    const Segment s(p, tile, r);
    if (s.row < 0) continue;
    const auto* const b = p.b.values + column;
    T sums[count] = {};
#pragma unroll 4
    for (int k = s.from; k < s.to; ++k) {
      const auto from = load_few<count>(b + entries.columns[k] * p.b.leading_dimension);
      const T value = entries.values[k];
#pragma unroll
      for (int c = 0; c < count; ++c) sums[c] += p.times(value, from.entry[c]);
    }
    if constexpr (at_once) {
      put_few(p, s.row, column, sums);
    } else {
#pragma unroll
      for (int c = 0; c < count; ++c)
        if (column + c < p.b.cols) p.put(s.row, column + c, sums[c]);
    }
  }
  add_long_rows(p, tiles, tile, entries);
}

template <auto kernel, class Products>
void launch_tiles(const Cuda& cuda, const Products& p, const CsrTilesView& tiles, int lanes, std::int32_t groups = 1) {
  const std::size_t shared = TileEntries<typename Products::Sum>::bytes(tiles.tiling);
  resident_blocks<kernel>(cuda, shared, SpmmTiling::threads);  // allows so much shared memory
  const dim3 blocks(static_cast<unsigned>(tiles.count), static_cast<unsigned>(groups));
  kernel<<<blocks, SpmmTiling::threads, shared, cuda.stream>>>(p, tiles, lanes, cuda.skip);
  check(cudaGetLastError());
}

template <class Products>
SpmmTiling tiling_of(const Products& p, bool lines) {
  return SpmmTiling::of(p.a.rows, p.a.nnz, sizeof(typename Products::Vector), p.b.cols, p.by_rows(), lines);
}

/// All products, with tiles that are known; their room for sums is not used. Up to `few_columns` have a kernel of their
/// own.
template <int few_columns, class Products>
void run_tiles(const Cuda& cuda, const Products& p, const CsrTilesView& found) {
  using T = typename Products::Vector;
  using Sum = typename Products::Sum;
  const bool lines = comes_in_fews(p.b) && comes_in_fews(p.c.as_const());
  const SpmmTiling by = tiling_of(p, lines);
  Frame frame(cuda);
  CsrTilesView tiles = found;
  const std::int32_t groups = by.groups_at_once(tiles.count, p.b.cols);
  const auto rooms = static_cast<std::size_t>(tiles.count) * static_cast<std::size_t>(groups);
  tiles.sums = frame.take<Sum>(2 * rooms * static_cast<std::size_t>(std::min(by.columns, p.b.cols)));
  if (groups > 1) {
    tiles.arrived = frame.take<unsigned>(rooms);
    check(cudaMemsetAsync(tiles.arrived, 0, rooms * sizeof(unsigned), cuda.stream));
  }
  T* const room =
      by.gathered
          ? frame.take<T>(static_cast<std::size_t>(p.b.rows) * static_cast<std::size_t>(line_entries_for<T>(p.b.cols)))
          : nullptr;
  for (std::int32_t first = 0; first < p.b.cols; first += groups * by.columns) {
    auto part = columns_of(p, first, std::min(groups * by.columns, p.b.cols - first));
    const int pieces = by.gathered || lines ? ceil_div(part.b.cols, few<T>) : part.b.cols;
    const int lanes = std::min(static_cast<int>(std::bit_ceil(static_cast<unsigned>(pieces))), 32);
    if (by.gathered) {
      part.b = in_lines(cuda, part.b, room);
      launch_tiles<wide_kernel<few<T>, false, Products>>(cuda, part, tiles, lanes);
    } else if (by.wide && lines) {
      launch_tiles<wide_kernel<few<T>, true, Products>>(cuda, part, tiles, lanes);
    } else if (by.wide) {
      if constexpr (!SpmmTiling::gathers_rows(sizeof(T)))
        launch_tiles<wide_kernel<1, true, Products>>(cuda, part, tiles, lanes);
    } else if (groups > 1) {
      launch_tiles<narrow_groups_kernel<Products>>(cuda, part, tiles, by.row_lanes,
                                                   ceil_div(part.b.cols, SpmmTiling::narrow));
    } else if (part.b.cols > few_columns) {
      launch_tiles<narrow_kernel<SpmmTiling::narrow, Products>>(cuda, part, tiles, by.row_lanes);
    } else {
      launch_tiles<narrow_kernel<few_columns, Products>>(cuda, part, tiles, by.row_lanes);
    }
  }
}

}  // namespace krill::detail
