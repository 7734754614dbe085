// Sparse matrix times dense vector.
#pragma once
#include <concepts>

#include "sparse/core/row_range.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill {

/// Dot products to take while y is computed: at most two, each into an array of one entry.
/// first = with_first^H y, second = with_second^H y. x and y themselves may be partners; null means none.
template <class T>
struct Dots {
  const Array<T>* with_first = nullptr;
  Array<wide_t<T>>* first = nullptr;
  const Array<T>* with_second = nullptr;
  Array<wide_t<T>>* second = nullptr;
  /// Rows that both dots leave out: row i has bit i % 32 of entry i / 32. Null: none.
  const Array<std::uint32_t>* left_out = nullptr;
  RowRange kept = {0, 0};  ///< rows of which none is left out: their bits are not read
};

/// What a format's values are.
template <class Matrix>
using value_t = typename Matrix::Value;

/// y = alpha op(A) x + beta y, and the dots of the new y. A: any format. x: A.cols(op) entries, y and the partners:
/// A.rows(op). y must be neither x nor a partner's array other than itself; beta = 0 overwrites y, NaN included.
/// Repeatable bitwise. Asynchronous and capturable after a first run; allocates nothing but workspace.
///
/// op none moves A.bytes() + rows sizeof T, and one read of x. These cost more, each time, by what they make in the
/// workspace first: COO and HYB row offsets (4 more bytes an entry of theirs); on CUDA, CSR, what goes by way of it,
/// and BSR, tiles of equal work (a few small kernels); transposes, and CSC and GEBSC with op none, a matrix in CSR
/// (about ten times the product). An SpmvPlan makes that once. Raises ShapeMismatch and InvalidArgument.
template <class Matrix>
void spmv(Context&, Op, const Scalar<value_t<Matrix>>& alpha, const Matrix& A, const Array<value_t<Matrix>>& x,
          const Scalar<value_t<Matrix>>& beta, Array<value_t<Matrix>>& y, const Dots<value_t<Matrix>>& = {});

/// The same with a format chosen at run time.
template <class T>
void spmv(Context&, Op, const std::type_identity_t<Scalar<T>>& alpha, const AnyMatrix<T>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& = {});

/// r = b - A x in one pass, and the dots of r. x, b and r are different arrays.
template <class Matrix>
void residual(Context&, const Matrix& A, const Array<value_t<Matrix>>& x, const Array<value_t<Matrix>>& b,
              Array<value_t<Matrix>>& r, const Dots<value_t<Matrix>>& = {});
template <class T>
void residual(Context&, const AnyMatrix<T>& A, const Array<T>& x, const Array<T>& b, Array<T>& r,
              const std::type_identity_t<Dots<T>>& = {});

/// y_I = alpha (A x)_I + beta y_I for the block rows I in `mask` (counted from zero, each at most once); no other row
/// of y is touched, and their row_begins and row_ends are not looked at (L2-BSRXMV). An empty mask does nothing.
template <class T>
void spmv_masked(Context&, const std::type_identity_t<Scalar<T>>& alpha, const Bsrx<T>& A,
                 const Array<std::int32_t>& mask, const Array<T>& x, const std::type_identity_t<Scalar<T>>& beta,
                 Array<T>& y);

}  // namespace krill
