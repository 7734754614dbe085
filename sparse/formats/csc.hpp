// Compressed sparse column: the same memory as the transpose in compressed sparse row.
#pragma once
#include "sparse/formats/csr.hpp"

namespace krill {

/// A matrix in compressed sparse column form: col_offsets[cols + 1], row_indices[nnz] ascending strictly in every
/// column, values[nnz]; zero-based.
template <class T>
class Csc : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::csc; }

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch and InvalidArgument.
  Csc(std::int32_t rows, Array<std::int32_t> col_offsets, Array<std::int32_t> row_indices, Array<T> values)
      : Csc(Csr<T>(rows, std::move(col_offsets), std::move(row_indices), std::move(values))) {}
  /// A from its transpose in CSR, without a copy.
  explicit Csc(Csr<T> transposed)
      : MatrixShape("csc", transposed.cols(), transposed.rows()), transposed_(std::move(transposed)) {}

  std::int64_t nnz() const { return transposed_.nnz(); }
  std::size_t bytes() const { return transposed_.bytes(); }

  const Array<std::int32_t>& col_offsets() const { return transposed_.row_offsets(); }
  const Array<std::int32_t>& row_indices() const { return transposed_.col_indices(); }
  const Array<T>& values() const { return transposed_.values(); }
  Array<T>& values() { return transposed_.values(); }
  /// The transpose in CSR: the same arrays, read as rows.
  const Csr<T>& transposed() const { return transposed_; }

 private:
  Csr<T> transposed_;
};

/// Raises InvalidArgument that names array, index and value, as for CSR. O(nnz), in parallel.
template <class T>
void validate(const Csc<T>&);

}  // namespace krill
