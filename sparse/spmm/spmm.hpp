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
/// Reads A once for 8 columns, or for 256 bytes of a row of B and more where lanes lie along it, and moves B and C once
/// in each direction. On CUDA a column-major B of 4 and more columns is brought into row-major order first, up to 256
/// bytes of a row at a time in the workspace, where A has 12 and more entries a row, and for blocks. All formats are
/// multiplied in place, COO once its row offsets are there (8 bytes a row in the workspace), CSC and GEBSC where op_a
/// transposes them; other ops go by way of CSR in the workspace, made anew each time. On CUDA a row of ELL or SELL is
/// one thread's for 8 columns, a block row of BSR one thread block's at most; long rows of CSR are divided. Raises
/// ShapeMismatch, and InvalidArgument where B and C are one matrix or overlap.
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

/// The type of sums: for integers the unsigned one, which may wrap around; the bits are the same.
template <class Compute>
using sum_t = std::conditional_t<std::is_same_v<Compute, std::int32_t>, std::uint32_t, Compute>;

/// C = alpha A B + beta C without A, as kernels get it: pointers on the tag's side, any orders. B, C and what is
/// computed with may be of types of their own (mixed.hpp).
template <class T, class ResultType = T, class ComputeType = T>
struct DenseOperands {
  using Vector = T;
  using Result = ResultType;
  using Sum = sum_t<ComputeType>;

  ScalarView<ComputeType> alpha;
  DenseView<const Vector> b;
  bool conjugate_b;
  ScalarView<ComputeType> beta;
  DenseView<Result> c;

  /// B and C are row-major, so that lanes may lie along the columns.
  constexpr bool by_rows() const { return b.order == Order::row_major && c.order == Order::row_major; }
  /// An entry of B, from what is stored.
  constexpr Sum of_b(Vector entry) const { return conj_if(conjugate_b, static_cast<Sum>(entry)); }
  /// A value of A times an entry of B as it is stored.
  constexpr Sum times(Sum value, Vector entry) const { return value * of_b(entry); }
  /// c_ij for the sum of row i and column j.
  constexpr void put(std::int64_t i, std::int64_t j, Sum sum) const {
    Result& at = c.at(i, j);
    Sum result = static_cast<Sum>(alpha()) * sum;
    if (const auto factor = static_cast<Sum>(beta()); !(factor == Sum(0))) result += factor * static_cast<Sum>(at);
    at = static_cast<Result>(result);
  }
};

/// The same products for `count` columns from `first` on.
template <class Products>
constexpr Products columns_of(Products part, std::int32_t first, std::int32_t count) {
  part.b.values += part.b.order == Order::column_major ? first * part.b.leading_dimension : first;
  part.c.values += part.c.order == Order::column_major ? first * part.c.leading_dimension : first;
  part.b.cols = part.c.cols = count;
  return part;
}

/// With A, as any view by rows has it, in any index base.
template <class View>
struct RowProducts : DenseOperands<typename View::Value> {
  View a;

  /// A value of A as it is stored, for times().
  constexpr typename View::Value widened(typename View::Value value) const { return value; }
};

/// With A in CSR.
template <class T, class OffsetType>
struct ManyProducts : RowProducts<CsrView<const T, OffsetType>> {
  using Offset = OffsetType;
};

template <class T, class Offset>
void run_products(const Host&, const ManyProducts<T, Offset>&);
/// Finds the tiles first.
template <class T, class Offset>
void run_products(const Cuda&, const ManyProducts<T, Offset>&);
/// With tiles that are known, of SpmmTiling; their room for sums is not used.
template <class T, class Offset>
void run_products(const Cuda&, const ManyProducts<T, Offset>&, const CsrTilesView&);
/// A has about so many entries.
template <class T>
void run_products(const Host&, const RowProducts<SellView<const T>>&, std::int64_t entries);
template <class T>
void run_products(const Cuda&, const RowProducts<SellView<const T>>&, std::int64_t entries);
template <class T>
void run_products(const Host&, const RowProducts<DiaView<const T>>&, std::int64_t entries);
template <class T>
void run_products(const Cuda&, const RowProducts<DiaView<const T>>&, std::int64_t entries);

}  // namespace detail
}  // namespace krill
