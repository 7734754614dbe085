// Sparse matrix times dense matrix (kernel catalogue GEN-SPMM, L3-BSRMM, L3-GEMMI).
#pragma once
#include "sparse/formats/dense.hpp"
#include "sparse/spmv/csr_tiles.hpp"
#include "sparse/spmv/spmv.hpp"

namespace krill {

/// C = alpha op_a(A) op_b(B) + beta C. A: any format; B and C: either order each, any leading dimension; C is
/// A.rows(op_a) x k, op_b(B) is A.cols(op_a) x k. C must not be B; beta = 0 overwrites C, NaN included. Padding of C
/// stays as it is. Repeatable bitwise; one column is spmv, bit by bit, where B and C have no gaps between its entries.
/// Asynchronous and capturable after a first run; allocates nothing but workspace.
///
/// Reads A once for 8 columns, or 256 bytes of them where B and C are row-major, and moves B and C once in each
/// direction; on CUDA a column-major B of 4 and more columns is brought into row-major order first, up to 256 bytes of
/// a row at a time in the workspace, where A has 12 and more entries a row. CSR is multiplied in place; other formats,
/// and transposes, go by way of CSR in the workspace, made anew each time. Raises ShapeMismatch, and InvalidArgument
/// where B and C are one matrix.
template <class Matrix>
void spmm(Context&, Op op_a, Op op_b, const Scalar<value_t<Matrix>>& alpha, const Matrix& A,
          const Dense<value_t<Matrix>>& B, const Scalar<value_t<Matrix>>& beta, Dense<value_t<Matrix>>& C);

/// The same with a format chosen at run time.
template <class T>
void spmm(Context&, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const AnyMatrix<T>& A,
          const Dense<T>& B, const std::type_identity_t<Scalar<T>>& beta, Dense<T>& C);

/// Dense times sparse: C = alpha A B + beta C, for B in any format; C is A.rows() x B.cols(). As C^T = B^T A^T, so that
/// B in CSC is multiplied in place.
template <class Matrix>
void dense_times_sparse(Context&, const Scalar<value_t<Matrix>>& alpha, const Dense<value_t<Matrix>>& A,
                        const Matrix& B, const Scalar<value_t<Matrix>>& beta, Dense<value_t<Matrix>>& C);

namespace detail {

/// C = alpha A B + beta C without A, as kernels get it: pointers on the tag's side, any orders.
template <class T>
struct DenseOperands {
  ScalarView<T> alpha;
  DenseView<const T> b;
  bool conjugate_b;
  ScalarView<T> beta;
  DenseView<T> c;

  /// B and C are row-major, so that lanes may lie along the columns.
  constexpr bool by_rows() const { return b.order == Order::row_major && c.order == Order::row_major; }
  constexpr T entry_of_b(std::int64_t i, std::int64_t j) const { return conj_if(conjugate_b, b.at(i, j)); }
  /// c_ij for the sum of row i and column j.
  constexpr void put(std::int64_t i, std::int64_t j, T sum) const {
    T& at = c.at(i, j);
    T result = alpha() * sum;
    if (const T factor = beta(); !(factor == T(0))) result += factor * at;
    at = result;
  }
};

/// With A, in any index base.
template <class T, class Offset>
struct ManyProducts : DenseOperands<T> {
  CsrView<const T, Offset> a;

  /// The same for `count` columns from `first` on.
  constexpr ManyProducts columns(std::int32_t first, std::int32_t count) const {
    ManyProducts part = *this;
    part.b.values += this->b.order == Order::column_major ? first * this->b.leading_dimension : first;
    part.c.values += this->c.order == Order::column_major ? first * this->c.leading_dimension : first;
    part.b.cols = part.c.cols = count;
    return part;
  }
};

template <class T, class Offset>
void run_products(const Host&, const ManyProducts<T, Offset>&);
/// Finds the tiles first.
template <class T, class Offset>
void run_products(const Cuda&, const ManyProducts<T, Offset>&);
/// With tiles that are known, of SpmmTiling; their room for sums is not used.
template <class T, class Offset>
void run_products(const Cuda&, const ManyProducts<T, Offset>&, const CsrTilesView&);

}  // namespace detail
}  // namespace krill
