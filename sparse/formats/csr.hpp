// Compressed sparse row.
#pragma once
#include <cstdint>
#include <type_traits>

#include "krill/sparse/core/array.hpp"

namespace krill {

namespace detail {
/// U, const where T is: the index arrays of a view are as changeable as its values.
template <class T, class U>
using as_const_as = std::conditional_t<std::is_const_v<T>, const U, U>;
}  // namespace detail

/// What kernels see: row_offsets[rows + 1], col_indices[nnz], values[nnz], all counted from `base`.
/// CsrView<const T> reads only, CsrView<T> writes too.
template <class T, class Offset = std::int32_t>
struct CsrView {
  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  detail::as_const_as<T, Offset>* row_offsets = nullptr;
  detail::as_const_as<T, std::int32_t>* col_indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr CsrView<const T, Offset> as_const() const {
    return {rows, cols, nnz, row_offsets, col_indices, values, base};
  }
};

/// A matrix in compressed sparse row form, zero-based, columns strictly ascending in every row.
/// Offset counts entries: std::int32_t, or std::int64_t for more than 2^31 of them.
template <class T, class Offset = std::int32_t>
class Csr {
 public:
  using Value = T;

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch.
  Csr(std::int32_t cols, Array<Offset> row_offsets, Array<std::int32_t> col_indices, Array<T> values)
      : cols_(cols),
        row_offsets_(std::move(row_offsets)),
        col_indices_(std::move(col_indices)),
        values_(std::move(values)) {
    if (row_offsets_.size() == 0) throw ShapeMismatch("csr: row_offsets is empty, rows + 1 entries are needed");
    require_size("csr: col_indices", col_indices_.size(), values_.size());
  }

  std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets_.size() - 1); }
  std::int32_t cols() const { return cols_; }
  std::int32_t rows(Op op) const { return op == Op::none ? rows() : cols(); }
  std::int32_t cols(Op op) const { return op == Op::none ? cols() : rows(); }
  std::int64_t nnz() const { return values_.size(); }
  /// Bytes of the three arrays, once.
  std::size_t bytes() const {
    return static_cast<std::size_t>(row_offsets_.size()) * sizeof(Offset) +
           static_cast<std::size_t>(nnz()) * (sizeof(std::int32_t) + sizeof(T));
  }

  const Array<Offset>& row_offsets() const { return row_offsets_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  CsrView<const kernel_t<T>, Offset> view(const Where& where) const {
    return {rows(), cols(), nnz(), row_offsets_.read(where), col_indices_.read(where), values_.read(where)};
  }

  Csr clone() const { return {cols_, row_offsets_.clone(), col_indices_.clone(), values_.clone()}; }

 private:
  std::int32_t cols_;
  Array<Offset> row_offsets_;
  Array<std::int32_t> col_indices_;
  Array<T> values_;
};

/// Raises InvalidArgument that names array, index and value unless row_offsets starts at the base, never decreases and
/// ends at nnz, every column lies in the matrix, and columns ascend strictly in each row. O(nnz), in parallel.
template <class T, class Offset>
void validate(const Host&, const CsrView<const T, Offset>&);
template <class T, class Offset>
void validate(const Csr<T, Offset>&);

}  // namespace krill
