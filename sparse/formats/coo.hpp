// Coordinates: one row and one column index for every entry.
#pragma once
#include <cstdint>

#include "sparse/formats/shape.hpp"

namespace krill {

/// What kernels see: the row, the column and the value of entry k are row_indices[k stride], col_indices[k stride] and
/// values[k], indices counted from `base`, sorted by row. stride is 2 where the two lie in pairs (COO-AoS).
template <class T>
struct CooView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  detail::as_const_as<T, std::int32_t>*row_indices = nullptr, *col_indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;
  std::int32_t stride = 1;

  constexpr CooView<const T> as_const() const {
    return {rows, cols, nnz, row_indices, col_indices, values, base, stride};
  }

  constexpr std::int32_t row(std::int64_t k) const { return row_indices[k * stride] - static_cast<int>(base); }
  constexpr std::int32_t col(std::int64_t k) const { return col_indices[k * stride] - static_cast<int>(base); }
  /// The first entry of row i or a later one.
  constexpr std::int64_t first_entry(std::int32_t i) const {
    std::int64_t low = 0, high = nnz;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (row(middle) < i)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  constexpr std::int32_t stored_rows() const { return rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    for (std::int64_t k = first_entry(s); k < nnz && row(k) == s; ++k) f(col(k), values[k]);
  }
};

/// A matrix in coordinate form, zero-based, sorted by row and then strictly by column.
template <class T>
class Coo : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::coo; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  Coo(std::int32_t rows, std::int32_t cols, Array<std::int32_t> row_indices, Array<std::int32_t> col_indices,
      Array<T> values)
      : MatrixShape("coo", rows, cols),
        row_indices_(std::move(row_indices)),
        col_indices_(std::move(col_indices)),
        values_(std::move(values)) {
    require_size("coo: row_indices", row_indices_.size(), values_.size());
    require_size("coo: col_indices", col_indices_.size(), values_.size());
  }

  std::int64_t nnz() const { return values_.size(); }
  std::size_t bytes() const { return detail::bytes_of(row_indices_, col_indices_, values_); }

  const Array<std::int32_t>& row_indices() const { return row_indices_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  CooView<const kernel_t<T>> view(const Where& where) const {
    return {rows(), cols(), nnz(), row_indices_.read(where), col_indices_.read(where), values_.read(where)};
  }

 private:
  Array<std::int32_t> row_indices_, col_indices_;
  Array<T> values_;
};

/// The same with row and column of an entry side by side: indices = row 0, column 0, row 1, column 1, ...
template <class T>
class CooAos : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::coo_aos; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  CooAos(std::int32_t rows, std::int32_t cols, Array<std::int32_t> indices, Array<T> values)
      : MatrixShape("coo_aos", rows, cols), indices_(std::move(indices)), values_(std::move(values)) {
    require_size("coo_aos: indices", indices_.size(), 2 * values_.size());
  }

  std::int64_t nnz() const { return values_.size(); }
  std::size_t bytes() const { return detail::bytes_of(indices_, values_); }

  const Array<std::int32_t>& indices() const { return indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  CooView<const kernel_t<T>> view(const Where& where) const {
    const std::int32_t* indices = indices_.read(where);
    return {rows(), cols(), nnz(), indices, indices + 1, values_.read(where), IndexBase::zero, 2};
  }

 private:
  Array<std::int32_t> indices_;
  Array<T> values_;
};

/// Raises InvalidArgument that names array, index and value unless every index lies in the matrix and entries are
/// sorted by row, then strictly by column. O(nnz), in parallel.
template <class T>
void validate(const Host&, const CooView<const T>&);
template <class T>
void validate(const Coo<T>&);
template <class T>
void validate(const CooAos<T>&);

}  // namespace krill
