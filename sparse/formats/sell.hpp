// Sliced ELLPACK: SELL, SELL-C-sigma, hacked ELLPACK (HLL); and ELLPACK itself, which is one slice.
#pragma once
#include "sparse/formats/shape.hpp"

namespace krill {

/// What kernels see. Slice s holds the stored rows s slice_rows to (s + 1) slice_rows - 1, padded to the longest of
/// them; entry k of its row r lies at slice_offsets[s] + k slice_rows + r. Padding has column padding_column and value
/// 0. Where slice_offsets is null, all rows are one slice of width `width` (ELL).
template <class T>
struct SellView {
  using Value = std::remove_const_t<T>;
  static constexpr std::int32_t padding_column = -1;

  std::int32_t rows = 0, cols = 0, slice_rows = 1;
  std::int64_t width = 0;
  detail::as_const_as<T, std::int64_t>* slice_offsets = nullptr;
  detail::as_const_as<T, std::int32_t>* col_indices = nullptr;
  T* values = nullptr;
  detail::as_const_as<T, std::int32_t>* row_permutation = nullptr;  ///< the row of each stored row; null: itself
  IndexBase base = IndexBase::zero;

  constexpr SellView<const T> as_const() const {
    return {rows, cols, slice_rows, width, slice_offsets, col_indices, values, row_permutation, base};
  }
  constexpr std::int64_t slices() const { return slice_offsets ? detail::ceil_div(rows, slice_rows) : rows > 0; }
  /// Where the first place of stored row s lies; the next ones follow at a distance of slice_rows.
  constexpr std::int64_t begin(std::int32_t s) const {
    return (slice_offsets ? slice_offsets[s / slice_rows] : 0) + s % slice_rows;
  }
  constexpr std::int64_t width_of(std::int32_t s) const {
    if (!slice_offsets) return width;
    const std::int32_t slice = s / slice_rows;
    return (slice_offsets[slice + 1] - slice_offsets[slice]) / slice_rows;
  }

  constexpr std::int32_t stored_rows() const { return rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return row_permutation ? row_permutation[s] : s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    const auto first = static_cast<std::int32_t>(base);
    std::int64_t at = begin(s);
    for (std::int64_t k = width_of(s); k > 0; --k, at += slice_rows)
      if (col_indices[at] >= first) f(col_indices[at] - first, values[at]);
  }
};

/// What other libraries put into the places of this format that hold no entry. Krill puts column -1 and value 0.
enum class Padding {
  minus_one,    ///< column -1, any value
  last_column,  ///< the row's last column once more (column `base` in an empty row), value 0
  first_column  ///< column `base`, value 0
};

/// Sliced ELLPACK, zero-based: slice_offsets[slices + 1], col_indices and values[slice_offsets[slices]], slices =
/// ceil(rows / slice_rows), the missing rows of the last one padded. Where rows are reordered, row_permutation[rows] is
/// the row of each stored row (HLL's rIdx, row_perm of permuted SELL).
template <class T>
class Sell : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::sell; }

  /// Sizes are checked here, the entries by validate(); the last slice offset is the size of the other arrays. An empty
  /// row_permutation means that rows keep their order. `nnz` counts entries without padding.
  /// Raises ShapeMismatch and InvalidArgument.
  Sell(std::int64_t rows, std::int64_t cols, std::int32_t slice_rows, std::int64_t nnz,
       Array<std::int64_t> slice_offsets, Array<std::int32_t> col_indices, Array<T> values,
       Array<std::int32_t> row_permutation = Array<std::int32_t>());

  std::int32_t slice_rows() const { return slice_rows_; }
  std::int64_t slices() const { return slice_offsets_.size() - 1; }
  std::int64_t nnz() const { return nnz_; }
  std::size_t bytes() const { return detail::bytes_of(slice_offsets_, col_indices_, values_, row_permutation_); }

  const Array<std::int64_t>& slice_offsets() const { return slice_offsets_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }
  const Array<std::int32_t>& row_permutation() const { return row_permutation_; }

  template <class Where>
  SellView<const kernel_t<T>> view(const Where& where) const {
    return {rows(),
            cols(),
            slice_rows_,
            0,
            slice_offsets_.read(where),
            col_indices_.read(where),
            values_.read(where),
            row_permutation_.size() ? row_permutation_.read(where) : nullptr};
  }

 private:
  std::int32_t slice_rows_;
  std::int64_t nnz_;
  Array<std::int64_t> slice_offsets_;
  Array<std::int32_t> col_indices_;
  Array<T> values_;
  Array<std::int32_t> row_permutation_;
};

/// ELLPACK, zero-based: entry k of row i at k rows + i of col_indices and values[rows width].
template <class T>
class Ell : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::ell; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  Ell(std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t nnz, Array<std::int32_t> col_indices,
      Array<T> values);

  std::int64_t width() const { return width_; }
  std::int64_t nnz() const { return nnz_; }
  std::size_t bytes() const { return detail::bytes_of(col_indices_, values_); }

  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  SellView<const kernel_t<T>> view(const Where& where) const {
    return {rows(), cols(), rows() > 0 ? rows() : 1, width_, nullptr, col_indices_.read(where), values_.read(where)};
  }

 private:
  std::int64_t width_, nnz_;
  Array<std::int32_t> col_indices_;
  Array<T> values_;
};

/// Raises InvalidArgument that names array, index and value unless slice offsets ascend by multiples of slice_rows from
/// 0 to the size of the arrays, every column lies in the matrix or is padding_column, columns ascend strictly in each
/// row with padding behind them, padding has value 0, nnz is right, and row_permutation is a permutation. O(places).
template <class T>
void validate(const Sell<T>&);
template <class T>
void validate(const Ell<T>&);

}  // namespace krill
