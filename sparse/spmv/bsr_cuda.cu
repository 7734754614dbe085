#include <limits>

#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/block_pieces.cuh"
#include "sparse/spmv/csr_tile.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int blocks = 4, blocks_with_dots = 3;  ///< that a multiprocessor is to hold. Not varied.
  /// A row is for its lanes alone up to so many pieces a lane, or so many times the mean. Not varied.
  static constexpr int pieces_alone = 16, times_mean = 4;
};

/// How a product is divided: `lanes` (a power of two) share a row; a thread block works on a tile, or, where there is a
/// mask or row ends are open, on so many block rows, whatever their lengths are.
struct Sharing {
  int lanes;
  std::int32_t max_blocks;  // of a row; longer ones are for a whole warp
  std::int32_t block_rows;
  PiecePlace pieces, rows;  // that the lanes and the thread block go on by
  CsrTilesView tiles;

  constexpr bool by_tiles() const { return tiles.tiles != nullptr; }
};

/// Block rows that the lanes of a thread block take at a time, at least one.
template <class T>
std::int32_t block_rows_at_a_time(const BsrView<const T>& a, int lanes) {
  return std::max(1, sum_threads / (lanes * a.blocks.row_dim));
}

/// Row i of the blocks before `end`, in pieces. known_parts: of a row of a block, where it is known when this is
/// compiled.
template <int count, int known_parts, class T>
struct RowInBlocks {
  const BsrView<const T>& a;
  const T* row;
  unsigned end;

  __device__ RowInBlocks(const BsrView<const T>& matrix, unsigned i, unsigned block_end)
      : a(matrix), row(matrix.values + (by_rows() ? i * size() : i)), end(block_end) {}
  __device__ bool by_rows() const { return count > 1 || a.blocks.order == BlockOrder::row_major; }
  __device__ unsigned size() const {
    return known_parts ? known_parts * count : static_cast<unsigned>(a.blocks.col_dim);
  }
  __device__ unsigned parts() const { return size() / count; }
  __device__ bool has(PiecePlace at) const { return at.whole < end; }
  __device__ const std::int32_t* block(PiecePlace at) const { return a.col_indices + at.whole; }
  __device__ const T* values(PiecePlace at) const {
    const auto rows = static_cast<unsigned>(a.blocks.row_dim);
    return row + std::int64_t{at.whole} * (rows * size()) + at.part * (by_rows() ? count : rows);
  }
};

/// Pieces of a row of a block.
template <int count, int known_parts, class T>
__device__ unsigned parts_of(const BsrView<const T>& a) {
  return known_parts ? known_parts : static_cast<unsigned>(a.blocks.col_dim) / count;
}

/// What one of some threads adds up of row i of the blocks [begin, end): the pieces first, first + step, ...
template <int count, bool whole, int known_parts, class T>
__device__ T row_part(const Product<BsrView<const T>>& p, unsigned i, std::int32_t begin, std::int32_t end,
                      PiecePlace first, PiecePlace step) {
  const RowInBlocks<count, known_parts, T> row(p.a, i, static_cast<unsigned>(end));
  first.whole += static_cast<unsigned>(begin);
  return sum_pieces<count, whole>(row, first, step, p.x, static_cast<unsigned>(p.a.cols));
}

/// The block rows of tile t.
template <class T>
__device__ TileBounds<std::int32_t> block_rows_of(const Product<BsrView<const T>>& p, const Sharing& sharing,
                                                  std::int32_t t) {
  if (sharing.by_tiles()) return TileBounds<std::int32_t>::of(sharing.tiles, t);
  const std::int32_t count = p.mask ? p.mask_size : p.a.block_rows(), first = t * sharing.block_rows;
  return {0, std::numeric_limits<std::int32_t>::max(), first, first + min(sharing.block_rows, count - first), -1};
}

/// Block rows that are too long for a few lanes, a warp each, and the parts of block rows that tiles cut, by the whole
/// block. Returns what they add to the dots. Not inlined: it would take registers from the kernel's loop. Whole warps
/// stay together.
template <int count, bool whole, int known_parts, class T>
__noinline__ __device__ typename DotsView<T>::Sum add_long_rows(const Product<BsrView<const T>>& p,
                                                                const Sharing& sharing) {
  const auto base = static_cast<std::int32_t>(p.a.base);
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const unsigned parts = parts_of<count, known_parts>(p.a);
  const std::int32_t rows = p.a.blocks.row_dim;
  const auto part = [&](int i, std::int32_t begin, std::int32_t end, int from, unsigned threads) {
    return row_part<count, whole, known_parts>(p, static_cast<unsigned>(i), begin, end,
                                               PiecePlace::of(static_cast<unsigned>(from), parts),
                                               PiecePlace::of(threads, parts));
  };
  typename DotsView<T>::Sum dots;
  for (auto t = static_cast<std::int32_t>(blockIdx.x); t < sharing.tiles.count;
       t += static_cast<std::int32_t>(gridDim.x)) {
    const auto tile = block_rows_of(p, sharing, t);
    const std::int32_t block_rows = tile.end_row - tile.first_row;
    for (std::int32_t from = thread - lane; from < block_rows; from += sum_threads) {
      const std::int32_t mine = p.block_row(tile.first_row + min(from + lane, block_rows - 1));
      const std::int32_t my_begin = p.a.row_begins[mine] - base, my_end = p.a.row_ends[mine] - base;
      const bool is_long = from + lane < block_rows && my_end <= tile.end && my_end - my_begin > sharing.max_blocks;
      for (unsigned waiting = __ballot_sync(~0u, is_long); waiting; waiting &= waiting - 1) {
        const int owner = __ffs(static_cast<int>(waiting)) - 1;
        const std::int64_t block_row = __shfl_sync(~0u, mine, owner);
        const std::int32_t begin = __shfl_sync(~0u, my_begin, owner), end = __shfl_sync(~0u, my_end, owner);
        for (int i = 0; i < rows; ++i) {
          const T sum = lanes_sum(part(i, begin, end, lane, 32), 32);
          if (lane == 0 && block_row * rows + i < p.a.rows) dots += p.store(block_row * rows + i, sum);
        }
      }
    }
    if (!sharing.by_tiles() || !has_long_rows(sharing.tiles)) continue;
    for_parts(sharing.tiles, t, p.a.row_begins, base,
              [&](std::int32_t block_row, std::int32_t first, std::int32_t begin, std::int32_t end) {
                const std::int32_t row_begin = p.a.row_begins[block_row] - base,
                                   row_end = p.a.row_ends[block_row] - base;
                const auto sum_of = [&](int i) { return block_sum(part(i, begin, end, thread, sum_threads)); };
                const auto put = [&](int i, T sum) {
                  const std::int64_t row = std::int64_t{block_row} * rows + i;
                  if (row < p.a.rows) p.put(row, sum);
                };
                book_part(LongRow<T>(sharing.tiles, first, row_begin, row_end, rows), t,
                          static_cast<unsigned>(end - begin), rows, sum_of, put);
              });
  }
  return dots;
}

// Threads: a block a tile, in a grid of as many blocks as tiles, or, where there are dots, of as many as stay; `lanes`
//   neighboring ones a row, which take its pieces in turn. Bytes: blocks and their columns once, y once, x as often as
//   the caches miss. Races: each y_i is written by one lane; long rows: add_long_rows(). Whole warps stay together.
template <bool with_dots, int count, bool whole, int known_parts, class T>
__global__ void __launch_bounds__(sum_threads, with_dots ? Tuning::blocks_with_dots : Tuning::blocks)
    bsr_kernel(const __grid_constant__ Product<BsrView<const T>> p, const __grid_constant__ Sharing sharing, Skip skip,
               GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  const auto base = static_cast<std::int32_t>(p.a.base);
  const unsigned thread = threadIdx.x, lanes = static_cast<unsigned>(sharing.lanes), lane = thread % lanes,
                 rows = static_cast<unsigned>(p.a.blocks.row_dim);
  const PiecePlace first_piece = PiecePlace::of(lane, parts_of<count, known_parts>(p.a)),
                   first_row = PiecePlace::of(thread / lanes, rows);
  RowBook<with_dots, BsrView<const T>> book(p);
  bool some_are_long = sharing.by_tiles() && has_long_rows(sharing.tiles);
  auto t = static_cast<std::int32_t>(blockIdx.x);
  do {
    const auto tile = block_rows_of(p, sharing, t);
    const auto block_rows = static_cast<unsigned>(tile.end_row - tile.first_row);
    for (PiecePlace at = first_row; __any_sync(~0u, at.whole < block_rows); at.advance(sharing.rows, rows)) {
      const bool there = at.whole < block_rows;
      const std::int32_t block_row = p.block_row(tile.first_row + (there ? static_cast<std::int32_t>(at.whole) : 0));
      const std::int32_t begin = p.a.row_begins[block_row] - base, end = p.a.row_ends[block_row] - base;
      const bool is_long = end - begin > sharing.max_blocks, mine = there && end <= tile.end && !is_long;
      some_are_long |= is_long;
      T sum{};
      if (mine) sum = row_part<count, whole, known_parts>(p, at.part, begin, end, first_piece, sharing.pieces);
      sum = lanes_sum(sum, sharing.lanes);
      const std::int64_t row = std::int64_t{block_row} * rows + at.part;
      if (mine && lane == 0 && row < p.a.rows) book.put(row, sum);
    }
    t += static_cast<std::int32_t>(gridDim.x);
  } while (with_dots && t < sharing.tiles.count);
  if (__syncthreads_or(some_are_long)) book.add(add_long_rows<count, whole, known_parts>(p, sharing));
  finish(book, p, sharing.tiles, scratch, static_cast<int>(rows));
}

template <int count, bool whole, int known_parts, class T>
void launch(const Cuda& cuda, const Product<BsrView<const T>>& p, const CsrTilesView& tiles) {
  constexpr std::int64_t any = std::numeric_limits<std::int32_t>::max();
  const int lanes = tiles.tiling.lanes, rows = p.a.blocks.row_dim, parts = p.a.blocks.col_dim / count;
  const std::int64_t mean = p.a.stored_blocks / std::max(p.a.block_rows(), 1) + 1;
  const std::int64_t most = std::max<std::int64_t>(Tuning::pieces_alone * lanes / parts, Tuning::times_mean * mean);
  const auto step = [](int n, int of) {
    return PiecePlace{static_cast<unsigned>(n / of), static_cast<unsigned>(n % of)};
  };
  const Sharing sharing{lanes,
                        static_cast<std::int32_t>(lanes < 32 ? std::min(most, any) : any),
                        block_rows_at_a_time(p.a, lanes),
                        step(lanes, parts),
                        step(sum_threads / lanes, rows),
                        tiles};
  const ProductGrid grid{tiles.count, sum_threads, 0, p.dots.wanted()};
  p.dots.wanted() ? launch_product<bsr_kernel<true, count, whole, known_parts, T>>(cuda, p, grid, sharing)
                  : launch_product<bsr_kernel<false, count, whole, known_parts, T>>(cuda, p, grid, sharing);
}

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<BsrView<const T>>& p, const CsrTilesView& tiles) {
  constexpr int most = 16 / sizeof(T);
  const int count = values_a_piece(p.a.blocks, sizeof(T)), parts = p.a.blocks.col_dim / count;
  const bool whole = lie_at_multiples(count * sizeof(T), p.a.values, p.x);
  if (whole && count == most) {
    constexpr int known_parts = most > 1 ? 1 : 0;
    return parts == known_parts ? launch<most, true, known_parts>(cuda, p, tiles)
                                : launch<most, true, 0>(cuda, p, tiles);
  }
  if constexpr (most > 2)
    if (whole && count == 2) return launch<2, true, 1>(cuda, p, tiles);
  if constexpr (most > 1)
    if (count == 3) return launch<3, false, 1>(cuda, p, tiles);
  launch<1, false, 0>(cuda, p, tiles);
}

}  // namespace krill::detail

namespace krill {

using namespace detail;

template <class T>
void run_product(const Cuda& cuda, const Product<BsrView<const T>>& p) {
  const CsrTiling tiling = CsrTiling::of(p.a.block_rows(), p.a.stored_blocks, p.a.blocks, sizeof(T));
  const bool closed = p.a.row_ends == p.a.row_begins + 1;
  if (p.mask || !closed) {
    const std::int32_t at_a_time = block_rows_at_a_time(p.a, tiling.lanes);
    const std::int64_t count = p.mask ? p.mask_size : p.a.block_rows();
    return run_product(
        cuda, p, {tiling, static_cast<std::int32_t>(std::max<std::int64_t>(1, (count + at_a_time - 1) / at_a_time))});
  }
  Frame frame(cuda);
  const CsrTilesView tiles =
      take_tiles(frame, tiling, p.a.block_rows(), p.a.stored_blocks, p.a.blocks.row_dim * sizeof(T));
  find_tiles(cuda, p.a.block_rows(), p.a.stored_blocks, p.a.row_begins, p.a.base, tiles);
  run_product(cuda, p, tiles);
}

template <class T>
struct BsrCudaInstances {
  static constexpr std::tuple list{
      instance<void(const Cuda&, const Product<BsrView<const kernel_t<T>>>&)>(run_product),
      instance<void(const Cuda&, const Product<BsrView<const kernel_t<T>>>&, const CsrTilesView&)>(run_product)};
};
KRILL_INSTANTIATE(BsrCudaInstances);

}  // namespace krill
