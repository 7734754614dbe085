// Block compressed sparse row: BSR, with rectangular blocks (GEBSR), with open row ends (BSRX), by columns (GEBSC).
#pragma once
#include "sparse/formats/shape.hpp"

namespace krill {

/// How the entries of a block lie in memory.
enum class BlockOrder { row_major, column_major };

/// The same blocks, transposed, read in the other order.
constexpr BlockOrder flipped(BlockOrder order) {
  return order == BlockOrder::row_major ? BlockOrder::column_major : BlockOrder::row_major;
}

/// How blocks cut a matrix up. Both dimensions 1 to 64.
struct Blocking {
  std::int32_t row_dim = 1, col_dim = 1;
  BlockOrder order = BlockOrder::row_major;

  constexpr std::int64_t size() const { return std::int64_t{row_dim} * col_dim; }
  /// Where entry (i, j) of a block lies.
  constexpr std::int64_t at(std::int32_t i, std::int32_t j) const {
    return order == BlockOrder::row_major ? std::int64_t{i} * col_dim + j : i + std::int64_t{j} * row_dim;
  }
  constexpr Blocking transposed() const { return {col_dim, row_dim, flipped(order)}; }
};

/// What kernels see. Block row I holds the blocks row_begins[I] to row_ends[I] - 1 (in BSR, row_ends = row_begins + 1);
/// block k stands at block column col_indices[k], its entries at values[k size()]. All indices count from `base`.
/// Zeros in blocks, and what blocks hold outside rows x cols, do not count as entries.
template <class T>
struct BsrView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0, cols = 0;
  Blocking blocks;
  std::int64_t stored_blocks = 0;
  detail::as_const_as<T, std::int32_t>*row_begins = nullptr, *row_ends = nullptr, *col_indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr BsrView<const T> as_const() const {
    return {rows, cols, blocks, stored_blocks, row_begins, row_ends, col_indices, values, base};
  }
  constexpr std::int32_t block_rows() const {
    return static_cast<std::int32_t>(detail::ceil_div(rows, blocks.row_dim));
  }

  constexpr std::int32_t stored_rows() const { return rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  /// Zeros in blocks are handed over, too.
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    const auto first = static_cast<std::int32_t>(base);
    const std::int32_t block_row = s / blocks.row_dim, i = s % blocks.row_dim;
    for (std::int32_t k = row_begins[block_row] - first; k < row_ends[block_row] - first; ++k) {
      const std::int64_t begin = std::int64_t{col_indices[k] - first} * blocks.col_dim;
      for (std::int32_t j = 0; j < blocks.col_dim && begin + j < cols; ++j)
        f(static_cast<std::int32_t>(begin + j), values[k * blocks.size() + blocks.at(i, j)]);
    }
  }
};

/// A matrix in blocks, zero-based, block columns strictly ascending in every block row: row_offsets[block rows + 1],
/// col_indices[blocks], values[blocks row_dim col_dim]. Square blocks make it BSR, other ones GEBSR. Rows and columns
/// need not be multiples of the block's: values beyond the last row or column are ignored (to use them, give the padded
/// size).
template <class T>
class Bsr : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::bsr; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  Bsr(std::int64_t rows, std::int64_t cols, Blocking blocks, Array<std::int32_t> row_offsets,
      Array<std::int32_t> col_indices, Array<T> values);

  const Blocking& blocks() const { return blocks_; }
  std::int32_t block_rows() const { return static_cast<std::int32_t>(row_offsets_.size() - 1); }
  std::int64_t stored_blocks() const { return col_indices_.size(); }
  /// Entries in the blocks, filled-in zeros included.
  std::int64_t nnz() const { return values_.size(); }
  std::size_t bytes() const { return detail::bytes_of(row_offsets_, col_indices_, values_); }

  const Array<std::int32_t>& row_offsets() const { return row_offsets_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  BsrView<const kernel_t<T>> view(const Where& where) const {
    const std::int32_t* offsets = row_offsets_.read(where);
    return {
        rows(), cols(), blocks_, stored_blocks(), offsets, offsets + 1, col_indices_.read(where), values_.read(where)};
  }

 private:
  Blocking blocks_;
  Array<std::int32_t> row_offsets_, col_indices_;
  Array<T> values_;
};

/// Bytes of a Bsr with so many rows and stored blocks.
template <class T>
constexpr std::size_t bsr_bytes(std::int32_t rows, std::int64_t stored_blocks, const Blocking& blocks) {
  const std::int64_t offsets = detail::ceil_div(rows, blocks.row_dim) + 1;
  return static_cast<std::size_t>(stored_blocks * blocks.size()) * sizeof(T) +
         static_cast<std::size_t>(stored_blocks + offsets) * sizeof(std::int32_t);
}

/// BSR whose block rows end where row_ends says, so that a caller may take a part of each without touching the blocks:
/// row_begins[block rows], row_ends[block rows]; a block that no row reaches stays in the arrays, unused.
template <class T>
class Bsrx : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::bsrx; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  Bsrx(std::int64_t rows, std::int64_t cols, Blocking blocks, Array<std::int32_t> row_begins,
       Array<std::int32_t> row_ends, Array<std::int32_t> col_indices, Array<T> values);

  const Blocking& blocks() const { return blocks_; }
  std::int32_t block_rows() const { return static_cast<std::int32_t>(row_begins_.size()); }
  std::int64_t stored_blocks() const { return col_indices_.size(); }
  /// Entries in all stored blocks, in those that no row reaches, too.
  std::int64_t nnz() const { return values_.size(); }
  std::size_t bytes() const { return detail::bytes_of(row_begins_, row_ends_, col_indices_, values_); }

  const Array<std::int32_t>& row_begins() const { return row_begins_; }
  const Array<std::int32_t>& row_ends() const { return row_ends_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  BsrView<const kernel_t<T>> view(const Where& where) const {
    return {rows(),
            cols(),
            blocks_,
            stored_blocks(),
            row_begins_.read(where),
            row_ends_.read(where),
            col_indices_.read(where),
            values_.read(where)};
  }

 private:
  Blocking blocks_;
  Array<std::int32_t> row_begins_, row_ends_, col_indices_;
  Array<T> values_;
};

/// Blocks by columns: col_offsets[block columns + 1], row_indices[blocks], and each block's entries as in GEBSR. That
/// is the memory of the transpose in GEBSR, whose blocks have their dimensions swapped and are read in the other order.
template <class T>
class Gebsc : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::gebsc; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  Gebsc(std::int64_t rows, std::int64_t cols, Blocking blocks, Array<std::int32_t> col_offsets,
        Array<std::int32_t> row_indices, Array<T> values)
      : Gebsc(Bsr<T>(cols, rows, blocks.transposed(), std::move(col_offsets), std::move(row_indices),
                     std::move(values))) {}
  /// A from its transpose, without a copy.
  explicit Gebsc(Bsr<T> transposed)
      : MatrixShape("gebsc", transposed.cols(), transposed.rows()), transposed_(std::move(transposed)) {}

  Blocking blocks() const { return transposed_.blocks().transposed(); }
  std::int64_t stored_blocks() const { return transposed_.stored_blocks(); }
  std::int64_t nnz() const { return transposed_.nnz(); }
  std::size_t bytes() const { return transposed_.bytes(); }

  const Array<std::int32_t>& col_offsets() const { return transposed_.row_offsets(); }
  const Array<std::int32_t>& row_indices() const { return transposed_.col_indices(); }
  const Array<T>& values() const { return transposed_.values(); }
  Array<T>& values() { return transposed_.values(); }
  /// The transpose in (GE)BSR: the same arrays, read as block rows.
  const Bsr<T>& transposed() const { return transposed_; }

 private:
  Bsr<T> transposed_;
};

/// Raises InvalidArgument that names array, index and value unless offsets lie in order and in range, every block
/// column lies in the matrix, and block columns ascend strictly in each block row. O(blocks), in parallel.
template <class T>
void validate(const Host&, const BsrView<const T>&);
template <class T>
void validate(const Bsr<T>&);
template <class T>
void validate(const Bsrx<T>&);
template <class T>
void validate(const Gebsc<T>&);

}  // namespace krill
