// Batches of products of sparse and dense matrices, of one shape each (kernel catalogue GEN-SPMAT-CSRBATCH,
// GEN-SPMAT-COOBATCH, GEN-DNMAT-SETBATCH).
#pragma once
#include "sparse/convert/lower_entry.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/coo.hpp"
#include "sparse/spmm/spmm.hpp"

namespace krill {

/// `count` sparse matrices in CSR, of one shape and with as many entries each, one after the other in three arrays. An
/// array may also have what one matrix needs, which then is that of all: row_offsets and col_indices of a pattern that
/// they share, or all three, which is one matrix for any number of right-hand sides.
template <class T, class Offset = std::int32_t>
class CsrBatch : public MatrixShape {
 public:
  using Value = T;

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch unless row_offsets has rows + 1 entries,
  /// and col_indices and values nnz, once or `count` times; InvalidArgument where `count` is less than 1.
  CsrBatch(std::int32_t count, std::int32_t rows, std::int32_t cols, std::int64_t nnz, Array<Offset> row_offsets,
           Array<std::int32_t> col_indices, Array<T> values);

  std::int32_t count() const { return count_; }
  std::int64_t nnz() const { return nnz_; }  ///< of each
  std::size_t bytes() const { return detail::bytes_of(row_offsets_, col_indices_, values_); }

  const Array<Offset>& row_offsets() const { return row_offsets_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  /// Matrix `i` of the batch.
  template <class Where>
  CsrView<const kernel_t<T>, Offset> view(const Where& where, std::int64_t i = 0) const {
    return {rows(),
            cols(),
            nnz(),
            row_offsets_.read(where) + i * offsets_stride(),
            col_indices_.read(where) + i * columns_stride(),
            values_.read(where) + i * values_stride()};
  }
  // From one matrix to the next; 0 where they share an array.
  std::int64_t offsets_stride() const { return row_offsets_.size() == rows() + 1 ? 0 : rows() + 1; }
  std::int64_t columns_stride() const { return col_indices_.size() == nnz_ ? 0 : nnz_; }
  std::int64_t values_stride() const { return values_.size() == nnz_ ? 0 : nnz_; }

 private:
  std::int32_t count_;
  std::int64_t nnz_;
  Array<Offset> row_offsets_;
  Array<std::int32_t> col_indices_;
  Array<T> values_;
};

/// The same in coordinates: row_indices, col_indices and values have nnz entries, once or `count` times, those of each
/// matrix sorted by row and then strictly by column.
template <class T>
class CooBatch : public MatrixShape {
 public:
  using Value = T;

  /// Sizes are checked here, the entries by validate(). Raises ShapeMismatch, and InvalidArgument where `count` is less
  /// than 1.
  CooBatch(std::int32_t count, std::int32_t rows, std::int32_t cols, std::int64_t nnz, Array<std::int32_t> row_indices,
           Array<std::int32_t> col_indices, Array<T> values);

  std::int32_t count() const { return count_; }
  std::int64_t nnz() const { return nnz_; }  ///< of each
  std::size_t bytes() const { return detail::bytes_of(row_indices_, col_indices_, values_); }

  const Array<std::int32_t>& row_indices() const { return row_indices_; }
  const Array<std::int32_t>& col_indices() const { return col_indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  /// Matrix `i` of the batch.
  template <class Where>
  CooView<const kernel_t<T>> view(const Where& where, std::int64_t i = 0) const {
    return {rows(),
            cols(),
            nnz(),
            row_indices_.read(where) + i * rows_stride(),
            col_indices_.read(where) + i * columns_stride(),
            values_.read(where) + i * values_stride()};
  }
  // From one matrix to the next; 0 where they share an array.
  std::int64_t rows_stride() const { return row_indices_.size() == nnz_ ? 0 : nnz_; }
  std::int64_t columns_stride() const { return col_indices_.size() == nnz_ ? 0 : nnz_; }
  std::int64_t values_stride() const { return values_.size() == nnz_ ? 0 : nnz_; }

 private:
  std::int32_t count_;
  std::int64_t nnz_;
  Array<std::int32_t> row_indices_, col_indices_;
  Array<T> values_;
};

/// Raises InvalidArgument as validate() of a Csr or a Coo does, for the first matrix that is not valid.
template <class T, class Offset>
void validate(const CsrBatch<T, Offset>&);
template <class T>
void validate(const CooBatch<T>&);

/// `count` dense matrices of one shape, order and leading dimension, `stride` entries apart; 0 asks for no gaps.
template <class T>
class DenseBatch : public MatrixShape {
 public:
  using Value = T;

  /// The contents are unspecified. Raises InvalidArgument where matrices would overlap, or `count` is less than 1.
  DenseBatch(std::int32_t count, std::int64_t rows, std::int64_t cols, Order order = Order::column_major,
             std::int64_t leading_dimension = 0, std::int64_t stride = 0);
  /// Raises InvalidArgument, and ShapeMismatch where `values` has not count stride entries.
  DenseBatch(std::int32_t count, std::int64_t rows, std::int64_t cols, Array<T> values,
             Order order = Order::column_major, std::int64_t leading_dimension = 0, std::int64_t stride = 0);

  std::int32_t count() const { return count_; }
  Order order() const { return order_; }
  std::int64_t leading_dimension() const { return leading_dimension_; }
  std::int64_t stride() const { return stride_; }
  std::size_t bytes() const { return detail::bytes_of(values_); }

  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  // What a kernel gets: the first matrix.
  template <class Where>
  DenseView<const kernel_t<T>> view(const Where& where) const {
    return over(values_.read(where));
  }
  /// For C = ... + beta C: fetched first where beta is not known to be 0, or there are gaps, which stay as they are.
  template <class Where, class S>
  DenseView<kernel_t<T>> output(const Where& where, const S& beta) {
    return over(beta.is_host_zero() && !gaps() ? values_.write(where) : values_.update(where));
  }

 private:
  std::int64_t entries() const { return std::int64_t{rows()} * cols(); }
  bool gaps() const { return values_.size() > count_ * entries(); }
  template <class U>
  DenseView<U> over(U* values) const {
    return {rows(), cols(), leading_dimension_, order_, values};
  }

  std::int32_t count_;
  Order order_;
  std::int64_t leading_dimension_, stride_;
  Array<T> values_;
};

/// C_i = alpha A_i op_b(B_i) + beta C_i for each i of C's count. A and B have as many matrices, or one each, which
/// serves all; one column is a batch of products with vectors. Orders, gaps, beta and repeatability as in spmm. One
/// launch for all of them; where A is one matrix and the columns of B lie evenly apart, as they do for vectors, the
/// product is one of all columns, and A is read once for 8 of them. Asynchronous and capturable after a first run.
/// Raises ShapeMismatch, also where counts do not fit, and InvalidArgument where B and C are one batch or matrices of
/// theirs share memory that a caller lends.
template <class T, class Offset>
void spmm(Context&, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const CsrBatch<T, Offset>& A,
          const DenseBatch<T>& B, const std::type_identity_t<Scalar<T>>& beta, DenseBatch<T>& C);

/// The same in coordinates: row offsets of each pattern go into the workspace first, 8 bytes a row; on CUDA each is
/// found by bisection of the row indices.
template <class T>
void spmm(Context&, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const CooBatch<T>& A, const DenseBatch<T>& B,
          const std::type_identity_t<Scalar<T>>& beta, DenseBatch<T>& C);

namespace detail {

/// offsets[i (rows + 1) + r] = the entries of matrix i in rows before r. Over all of them.
struct BatchOffsets {
  using Sum = NoSum;
  const std::int32_t* row_indices;
  std::int32_t rows;
  std::int64_t nnz;  ///< of each
  std::int64_t* offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    const std::int64_t first = k / (rows + std::int64_t{1}) * nnz;
    offsets[k] = lower_entry(row_indices + first, std::int64_t{0}, nnz, k % (rows + std::int64_t{1}));
    return {};
  }
};

/// Many products, as kernels get them: the first, and how far the next ones are.
template <class T, class Offset>
struct ProductBatch {
  ManyProducts<T, Offset> first;
  std::int64_t count;
  std::int64_t offsets, columns, values, b, c;  ///< strides

  constexpr ManyProducts<T, Offset> member(std::int64_t i) const {
    ManyProducts<T, Offset> p = first;
    p.a.row_offsets += i * offsets, p.a.col_indices += i * columns, p.a.values += i * values;
    p.b.values += i * b, p.c.values += i * c;
    return p;
  }
};

template <class T, class Offset>
void run_batch(const Host&, const ProductBatch<T, Offset>&);
template <class T, class Offset>
void run_batch(const Cuda&, const ProductBatch<T, Offset>&);

/// Products with one A and the columns of all matrices, which lie side by side.
template <class T, class Offset>
void run_many_columns(const Host&, const ManyProducts<T, Offset>&);
template <class T, class Offset>
void run_many_columns(const Cuda&, const ManyProducts<T, Offset>&);

}  // namespace detail
}  // namespace krill
