// Coordinates: one row and one column index for every entry.
#pragma once
#include <cstdint>

#include "krill/sparse/formats/csr.hpp"

namespace krill {

/// What kernels see: row_indices[nnz], col_indices[nnz], values[nnz], counted from `base`, sorted by row.
template <class T>
struct CooView {
  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  detail::as_const_as<T, std::int32_t>*row_indices = nullptr, *col_indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr CooView<const T> as_const() const { return {rows, cols, nnz, row_indices, col_indices, values, base}; }
};

/// A matrix in coordinate form, zero-based, sorted by row and then strictly by column.
template <class T>
class Coo {
 public:
  using Value = T;

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch.
  Coo(std::int32_t rows, std::int32_t cols, Array<std::int32_t> row_indices, Array<std::int32_t> col_indices,
      Array<T> values)
      : rows_(rows),
        cols_(cols),
        row_indices_(std::move(row_indices)),
        col_indices_(std::move(col_indices)),
        values_(std::move(values)) {
    require_size("coo: row_indices", row_indices_.size(), values_.size());
    require_size("coo: col_indices", col_indices_.size(), values_.size());
  }

  std::int32_t rows() const { return rows_; }
  std::int32_t cols() const { return cols_; }
  std::int32_t rows(Op op) const { return op == Op::none ? rows() : cols(); }
  std::int32_t cols(Op op) const { return op == Op::none ? cols() : rows(); }
  std::int64_t nnz() const { return values_.size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(nnz()) * (2 * sizeof(std::int32_t) + sizeof(T)); }

  const Array<std::int32_t>& row_indices() const { return row_indices_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  CooView<const kernel_t<T>> view(const Where& where) const {
    return {rows_, cols_, nnz(), row_indices_.read(where), col_indices_.read(where), values_.read(where)};
  }

 private:
  std::int32_t rows_, cols_;
  Array<std::int32_t> row_indices_, col_indices_;
  Array<T> values_;
};

/// Raises InvalidArgument that names array, index and value unless every index lies in the matrix and entries are
/// sorted by row, then strictly by column. O(nnz), in parallel.
template <class T>
void validate(const Host&, const CooView<const T>&);
template <class T>
void validate(const Coo<T>&);

}  // namespace krill
