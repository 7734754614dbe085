// The coarsest level: its inverse as a dense matrix.
#pragma once
#include "solvers/multigrid/dense_passes.hpp"
#include "solvers/operator.hpp"
#include "sparse/core/work.hpp"

namespace krill {

/// x = A^-1 b for a small A, by its inverse: Gauss-Jordan elimination with partial pivoting in double precision, after
/// rows and columns were divided by the roots of the diagonal's moduli. O(n^3) to make, n^2 values to apply.
///
/// Where A maps `kernel` to nearly nothing, as the matrix of a Neumann problem does a constant, a multiple of u u^H
/// with u = kernel / ||kernel|| is added before, so that x is a solution where b has nothing along u. Rows without a
/// pivot get zeros: their x is 0.
template <class T>
class DenseInverse {
 public:
  static constexpr std::int32_t max_rows = 2048;
  explicit DenseInverse(std::int32_t n);
  /// Of A, in place from the second time on; `kernel` may be null. No wait: capturable after a first run.
  void set(Context&, const AnyMatrix<T>& A, const Array<T>* kernel);
  /// Asynchronous, capturable.
  void apply(Context&, const Array<T>& b, Array<T>& x) const;

  /// By rows on CUDA, by columns on the host.
  const Array<T>& inverse() const { return inverse_; }
  /// What the elimination met. Waits.
  detail::DenseFacts facts() const { return facts_.host()[0]; }
  std::size_t bytes() const { return detail::bytes_of(inverse_, work_, other_, scale_, sources_, facts_); }
  Work work() const;

 private:
  std::int32_t n_;
  Array<T> inverse_;               // as its product reads it
  Array<wide_t<T>> work_, other_;  // by rows; on CUDA a step of the elimination reads one and writes the other
  Array<double> scale_;            // of rows and columns
  Array<std::int32_t> sources_;    // which row stands in each row, once rows have changed places
  Array<detail::DenseFacts> facts_;
};

namespace detail {

/// Gauss-Jordan elimination of `work`, by rows, with partial pivoting: the inverse of its rows in the order `sources`,
/// in `work` or in `other`, whose address it returns. Counts columns without a pivot in `facts`.
template <class W>
W* invert_dense(const Host&, std::int32_t n, W* work, W* other, std::int32_t* sources, DenseFacts* facts);
template <class W>
W* invert_dense(const Cuda&, std::int32_t n, W* work, W* other, std::int32_t* sources, DenseFacts* facts);

/// x = inverse b.
template <class T>
void dense_product(const Host&, std::int32_t n, const T* inverse_by_columns, const T* b, T* x);
template <class T>
void dense_product(const Cuda&, std::int32_t n, const T* inverse_by_rows, const T* b, T* x);

}  // namespace detail

}  // namespace krill
