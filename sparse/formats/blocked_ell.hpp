// Blocked ELLPACK: every block row holds the same number of square blocks.
#pragma once
#include "sparse/formats/shape.hpp"

namespace krill {

/// What kernels see. Block row I holds the blocks k = 0 .. width() - 1 at block columns col_indices[I width() + k]
/// (padding_column: none); the entries of row i in all of its blocks lie side by side: column j of block k at values[i
/// ell_cols + k block_dim + j]. Zeros, and what lies outside the matrix, do not count as entries.
template <class T>
struct BlockedEllView {
  using Value = std::remove_const_t<T>;
  static constexpr std::int32_t padding_column = -1;

  std::int32_t rows = 0, cols = 0, block_dim = 1;
  std::int64_t ell_cols = 0;
  detail::as_const_as<T, std::int32_t>* col_indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr BlockedEllView<const T> as_const() const {
    return {rows, cols, block_dim, ell_cols, col_indices, values, base};
  }
  /// Blocks in a block row.
  constexpr std::int64_t width() const { return detail::ceil_div(ell_cols, block_dim); }
  /// The column of place c in row i, negative where there is none.
  constexpr std::int64_t col(std::int32_t i, std::int64_t c) const {
    const std::int32_t block = col_indices[i / block_dim * width() + c / block_dim] - static_cast<int>(base);
    const std::int64_t j = std::int64_t{block} * block_dim + c % block_dim;
    return block < 0 || j >= cols ? -1 : j;
  }

  constexpr std::int32_t stored_rows() const { return rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  /// Zeros in blocks are handed over, too.
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    for (std::int64_t c = 0; c < ell_cols; ++c)
      if (const std::int64_t j = col(s, c); j >= 0) f(static_cast<std::int32_t>(j), values[s * ell_cols + c]);
  }
};

/// A matrix in Blocked-ELL, zero-based: col_indices[block rows width], values[rows ell_cols] by rows; width =
/// ceil(ell_cols / block_dim), block columns ascending strictly in every block row with padding (-1) behind them.
template <class T>
class BlockedEll : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::blocked_ell; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  BlockedEll(std::int64_t rows, std::int64_t cols, std::int32_t block_dim, std::int64_t ell_cols,
             Array<std::int32_t> col_indices, Array<T> values);

  std::int32_t block_dim() const { return block_dim_; }
  std::int64_t ell_cols() const { return ell_cols_; }
  std::int64_t block_rows() const { return detail::ceil_div(rows(), block_dim_); }
  std::int64_t width() const { return detail::ceil_div(ell_cols_, block_dim_); }
  /// Places, filled-in zeros and padding included.
  std::int64_t nnz() const { return values_.size(); }
  std::size_t bytes() const { return detail::bytes_of(col_indices_, values_); }

  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  BlockedEllView<const kernel_t<T>> view(const Where& where) const {
    return {rows(), cols(), block_dim_, ell_cols_, col_indices_.read(where), values_.read(where)};
  }

 private:
  std::int32_t block_dim_;
  std::int64_t ell_cols_;
  Array<std::int32_t> col_indices_;
  Array<T> values_;
};

/// Raises InvalidArgument that names array, index and value unless every block column lies in the matrix or is
/// padding_column, and block columns ascend strictly in each block row with padding behind them. O(blocks).
template <class T>
void validate(const BlockedEll<T>&);

}  // namespace krill
