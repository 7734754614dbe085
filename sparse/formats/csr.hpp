// Compressed sparse row.
#pragma once
#include <cstdint>

#include "sparse/formats/shape.hpp"

namespace krill {

namespace detail {
/// Raises ShapeMismatch where there is not even the one offset of a matrix without rows.
inline std::int64_t rows_of(std::int64_t offsets) {
  if (offsets == 0) throw ShapeMismatch("csr: row_offsets is empty, rows + 1 entries are needed");
  return offsets - 1;
}
}  // namespace detail

/// What kernels see: row_offsets[rows + 1], col_indices[nnz], values[nnz], all counted from `base`.
/// CsrView<const T> reads only, CsrView<T> writes too.
template <class T, class Offset = std::int32_t>
struct CsrView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  detail::as_const_as<T, Offset>* row_offsets = nullptr;
  detail::as_const_as<T, std::int32_t>* col_indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr CsrView<const T, Offset> as_const() const {
    return {rows, cols, nnz, row_offsets, col_indices, values, base};
  }

  constexpr std::int32_t stored_rows() const { return rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    const auto first = static_cast<std::int32_t>(base);
    for (Offset k = row_offsets[s] - first; k < row_offsets[s + 1] - first; ++k) f(col_indices[k] - first, values[k]);
  }
};

/// A matrix in compressed sparse row form, zero-based, columns strictly ascending in every row.
/// Offset counts entries: std::int32_t, or std::int64_t for more than 2^31 of them.
template <class T, class Offset = std::int32_t>
class Csr : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::csr; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch.
  Csr(std::int32_t cols, Array<Offset> row_offsets, Array<std::int32_t> col_indices, Array<T> values)
      : MatrixShape("csr", detail::rows_of(row_offsets.size()), cols),
        row_offsets_(std::move(row_offsets)),
        col_indices_(std::move(col_indices)),
        values_(std::move(values)) {
    require_size("csr: col_indices", col_indices_.size(), values_.size());
  }

  std::int64_t nnz() const { return values_.size(); }
  /// Bytes of the three arrays.
  std::size_t bytes() const { return detail::bytes_of(row_offsets_, col_indices_, values_); }

  const Array<Offset>& row_offsets() const { return row_offsets_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  CsrView<const kernel_t<T>, Offset> view(const Where& where) const {
    return {rows(), cols(), nnz(), row_offsets_.read(where), col_indices_.read(where), values_.read(where)};
  }

  /// Column indices and values, for a matrix that takes them over.
  std::pair<Array<std::int32_t>, Array<T>> release() && { return {std::move(col_indices_), std::move(values_)}; }
  Csr clone() const { return {cols(), row_offsets_.clone(), col_indices_.clone(), values_.clone()}; }

 private:
  Array<Offset> row_offsets_;
  Array<std::int32_t> col_indices_;
  Array<T> values_;
};

/// Whether a type is Csr, with offsets of either width.
template <class Matrix>
inline constexpr bool is_csr = false;
template <class T, class Offset>
inline constexpr bool is_csr<Csr<T, Offset>> = true;

/// Raises InvalidArgument that names array, index and value unless row_offsets starts at the base, never decreases and
/// ends at nnz, every column lies in the matrix, and columns ascend strictly in each row. O(nnz), in parallel.
template <class T, class Offset>
void validate(const Host&, const CsrView<const T, Offset>&);
template <class T, class Offset>
void validate(const Csr<T, Offset>&);

}  // namespace krill
