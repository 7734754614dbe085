// How products with a matrix in CSR are divided on a device: into tiles of about as many entries each, whatever the
// rows look like. For BSR, rows are block rows and entries blocks.
#pragma once
#include "sparse/formats/csr_sizes.hpp"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// Which kernel multiplies; they suit shorter and longer rows.
enum class CsrKernel { staged, products, lanes };

/// Tiles cut the path through a matrix into equal lengths; on this path a row has length 1 and each of its entries 8. A
/// row belongs to the tile in which it begins, if it ends there or at most `slack` entries later. A row that goes on
/// further is long: every tile that it crosses has a part of it. `entries` is more than `slack`, so that at most one
/// row of earlier tiles ends in a tile.
struct CsrTiling {
  CsrKernel kernel;
  std::int32_t lanes;           ///< of a warp that share a row, where the kernel is that one
  std::int32_t entries, slack;  ///< of a tile, and more of them at most so that rows need not be cut

  /// For a matrix of that size: what was fastest on an H200.
  static CsrTiling of(std::int32_t rows, std::int64_t nnz);
  static CsrTiling of(std::int32_t block_rows, std::int64_t stored_blocks, const Blocking&, std::size_t value_bytes);

  static constexpr std::int64_t entry_length = 8;
  constexpr std::int64_t length() const { return entry_length * entries; }
  constexpr std::int32_t count(std::int32_t rows, std::int64_t nnz) const {
    return static_cast<std::int32_t>((entry_length * nnz + rows) / length() + 1);
  }
  /// Entries that a tile can have: it may begin up to `slack` early, so that rows are aligned.
  constexpr std::int32_t capacity() const { return entries + 2 * slack + 1; }

  /// The tile in which a row begins, and the last one that has entries of a long row. `begin`, `end`: its entries.
  constexpr std::int64_t first_tile(std::int32_t row, std::int64_t begin) const {
    return (entry_length * begin + row) / length();
  }
  constexpr std::int64_t last_tile(std::int32_t row, std::int64_t end) const {
    return (entry_length * (end - 1) + row + 1) / length();
  }
  constexpr bool is_long(std::int32_t row, std::int64_t begin, std::int64_t end) const {
    const std::int64_t path_end = entry_length * end + row + 1;
    return path_end - (first_tile(row, begin) + 1) * length() > entry_length * slack;
  }
  /// The most long rows that a matrix can have.
  constexpr std::int64_t max_long_rows(std::int64_t nnz) const { return nnz / slack; }
};

/// Values of a row of a block that a lane takes at a time on CUDA: 16 bytes, where blocks can be cut into them.
constexpr std::int32_t values_a_piece(const Blocking& blocks, std::size_t value_bytes) {
  const auto most = static_cast<std::int32_t>(16 / value_bytes);
  if (blocks.order == BlockOrder::column_major) return 1;
  if (blocks.col_dim % most == 0) return most;
  return blocks.col_dim == 2 || blocks.col_dim == 3 ? blocks.col_dim : 1;
}

/// Where a tile begins; it ends where the next one begins. If `entry` lies before the first entry of `row`, the tile
/// begins with a part of row - 1, which is long.
struct CsrTile {
  std::int64_t entry;
  std::int32_t row;
  /// -1 if no row of the tile has more than even_row entries. Else the tile in which the tile's first row begins: an
  /// earlier one if it begins with a part of a long row, itself otherwise.
  std::int32_t began = -1;
};

/// Entries of a row that a thread can add up on its own, while its neighbors do the same.
inline constexpr std::int32_t even_row = 32;

/// The tiles of a matrix, and room for the sums of long rows; on the device.
struct CsrTilesView {
  CsrTiling tiling;
  std::int32_t count = 0;
  CsrTile* tiles = nullptr;     ///< count + 1
  void* sums = nullptr;         ///< two a tile: of the long row that it ends or goes on with, and that begins
  unsigned* arrived = nullptr;  ///< entries added up of the long row that begins in a tile; zero between products
  std::int32_t* long_starts = nullptr;  ///< count + 2: long rows before each tile; the last says how many there are
  std::int32_t* long_rows = nullptr;    ///< ascending
};

/// Fills the arrays of `tiles` from the row offsets, without a wait.
template <class Offset>
void find_tiles(const Cuda&, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets, IndexBase,
                const CsrTilesView& tiles);

/// Room for the tiles of a matrix in the frame's memory; a row's sum has so many bytes.
inline CsrTilesView take_tiles(Frame& frame, const CsrTiling& tiling, std::int32_t rows, std::int64_t nnz,
                               std::size_t sum_bytes) {
  const std::int32_t count = tiling.count(rows, nnz);
  const auto tiles = static_cast<std::size_t>(count);
  return {tiling,
          count,
          frame.take<CsrTile>(tiles + 1),
          frame.take<unsigned char>(2 * tiles * sum_bytes),
          frame.take<unsigned>(tiles),
          frame.take<std::int32_t>(tiles + 2),
          frame.take<std::int32_t>(static_cast<std::size_t>(tiling.max_long_rows(nnz)))};
}

/// A plain run_product finds the tiles first, each time.
template <class T, class Offset>
void run_product(const Cuda&, const Product<CsrView<const T, Offset>>&, const CsrTilesView&);
/// In BSR, without a mask.
template <class T>
void run_product(const Cuda&, const Product<BsrView<const T>>&, const CsrTilesView&);

/// Owns the tiles of a matrix. On the host there is nothing to find. One product at a time may use it.
class CsrTiles {
 public:
  CsrTiles() = default;
  template <class T, class Offset>
  static CsrTiles of(Context& ctx, std::int32_t rows, const Array<Offset>& row_offsets, const Array<T>& values) {
    return {ctx, CsrTiling::of(rows, values.size()), rows, values.size(), row_offsets, sizeof(T)};
  }
  /// Without room for sums.
  template <class Offset>
  static CsrTiles of(Context& ctx, const CsrTiling& tiling, std::int32_t rows, std::int64_t nnz,
                     const Array<Offset>& row_offsets) {
    return {ctx, tiling, rows, nnz, row_offsets, 0};
  }
  template <class T>
  static CsrTiles of(Context& ctx, const Bsr<T>& a) {
    return {ctx, tiling_of(a), a.block_rows(), a.stored_blocks(), a.row_offsets(), sum_bytes_of(a)};
  }

  /// Of a matrix in CSR; of one in BSR by its block rows and blocks, with the bytes of a row's sum.
  static HeldMemory memory(MemoryLedger&, const CsrSizes&);
  static HeldMemory memory(MemoryLedger&, const CsrTiling&, std::int32_t rows, std::int64_t nnz, std::size_t sum_bytes);
  template <class T>
  static HeldMemory memory(MemoryLedger& ledger, const Bsr<T>& a) {
    return memory(ledger, tiling_of(a), a.block_rows(), a.stored_blocks(), sum_bytes_of(a));
  }

  /// On the host, or where they were made on the host: then products find tiles each time.
  bool empty() const { return tiles_.size() == 0; }
  std::size_t bytes() const { return bytes_of(tiles_, sums_, arrived_, long_starts_, long_rows_); }
  CsrTilesView view(const Cuda& where) const {
    return {tiling_,
            static_cast<std::int32_t>(tiles_.size() - 1),
            tiles_.update(where),
            sums_.write(where),
            arrived_.update(where),
            long_starts_.update(where),
            long_rows_.update(where)};
  }

 private:
  template <class T>
  static CsrTiling tiling_of(const Bsr<T>& a) {
    return CsrTiling::of(a.block_rows(), a.stored_blocks(), a.blocks(), sizeof(T));
  }
  template <class T>
  static std::size_t sum_bytes_of(const Bsr<T>& a) {
    return sizeof(T) * static_cast<std::size_t>(a.blocks().row_dim);
  }
  template <class Offset>
  CsrTiles(Context&, const CsrTiling&, std::int32_t rows, std::int64_t nnz, const Array<Offset>& row_offsets,
           std::size_t sum_bytes);

  CsrTiling tiling_{};
  mutable Array<CsrTile> tiles_{0, "csr tiles"};
  mutable Array<unsigned char> sums_{0, "csr tile sums"};
  mutable Array<unsigned> arrived_{0, "csr tiles arrived"};
  mutable Array<std::int32_t> long_starts_{0, "csr long row counts"}, long_rows_{0, "csr long rows"};
};

}  // namespace krill::detail
