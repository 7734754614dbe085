// Sparse matrix times dense vector with separate types of storage, result and computation.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "sparse/core/half.hpp"
#include "sparse/formats/coo.hpp"
#include "sparse/formats/csr.hpp"

namespace krill {

/// The types of a product: those of A's values, of x, of y, and what alpha, beta, products and sums are taken in.
template <class StorageType, class VectorType, class ResultType, class ComputeType>
struct MixedTypes {
  using Storage = StorageType;
  using Vector = VectorType;
  using Result = ResultType;
  using Compute = ComputeType;
};

/// The combinations that there are: the narrow ones of the generic product (kernel catalogue 15.2), BFloat16 beside
/// them, and matrices of single precision in a computation of double precision (L2-CSRMVEX).
using MixedTable =
    std::tuple<MixedTypes<Half, Half, Half, float>,  // 16F, and 16F -> 16F / 32F
               MixedTypes<Complex<Half>, Complex<Half>, Complex<Half>, std::complex<float>>,  // C_16F
               MixedTypes<Half, Half, float, float>,                                          // 16F -> 32F / 32F
               MixedTypes<BFloat16, BFloat16, BFloat16, float>,                               // 16BF
               MixedTypes<BFloat16, BFloat16, float, float>,                                  // 16BF -> 32F / 32F
               MixedTypes<std::int8_t, std::int8_t, std::int32_t, std::int32_t>,              // 8I -> 32I / 32I
               MixedTypes<std::int8_t, std::int8_t, float, float>,                            // 8I -> 32F / 32F
               MixedTypes<float, double, double, double>,                                     // 32F, 64F -> 64F / 64F
               MixedTypes<std::complex<float>, std::complex<double>, std::complex<double>, std::complex<double>>>;

namespace detail {
template <class Table>
struct AllMixedTypes;
template <class... Types>
struct AllMixedTypes<std::tuple<Types...>> : Types... {};
template <class Storage, class Vector, class Result, class Compute>
MixedTypes<Storage, Vector, Result, Compute> find_mixed(const MixedTypes<Storage, Vector, Result, Compute>&);
}  // namespace detail

template <std::size_t Row>
using mixed_row_t = std::tuple_element_t<Row, MixedTable>;

/// The row of the table with these types of A, x and y; there is at most one.
template <class Storage, class Vector, class Result>
using mixed_types_t = decltype(detail::find_mixed<Storage, Vector, Result>(detail::AllMixedTypes<MixedTable>()));

/// y = alpha op(A) x + beta y. A: Csr, Coo or CooAos; the types of A, x and y are a row of MixedTable. x: A.cols(op)
/// entries, y: A.rows(op); they are different arrays. beta = 0 overwrites, NaN included. Values are widened exactly,
/// products and sums are taken in Compute, and only y is rounded, once. std::int32_t wraps around: 131,072 products of
/// -128 and -128 are too many. Repeatable bitwise, for any number of threads. Asynchronous and capturable after a first
/// run; allocates nothing but workspace.
///
/// op none moves A.bytes() + rows sizeof Result, and one read of x. More cost, in each call, what the workspace gets
/// first: COO row offsets (8 bytes a row), COO-AoS its indices apart, transposes the sorted pattern of op(A) with the
/// places of its values (a sort, many times the product). Each row is one thread's on the host and at most one warp's
/// on a device: a few very long rows are slow. GEN-SPMV, L2-CSRMVEX. Raises ShapeMismatch and InvalidArgument.
template <class Matrix, class Vector, class Result, class Types = mixed_types_t<typename Matrix::Value, Vector, Result>>
void spmv_mixed(Context&, Op, const Scalar<typename Types::Compute>& alpha, const Matrix& A, const Array<Vector>& x,
                const Scalar<typename Types::Compute>& beta, Array<Result>& y);

/// The same as kernels get it: pointers on the tag's side, any index base. Entries lie at multiples of their size.
template <class Types, class View>
struct MixedProduct {
  ScalarView<kernel_t<typename Types::Compute>> alpha;
  View a;
  const kernel_t<typename Types::Vector>* x;
  ScalarView<kernel_t<typename Types::Compute>> beta;
  kernel_t<typename Types::Result>* y;
};

// The kernels behind the door, for callers who own their memory, too. Types is a row of MixedTable, T its Storage.
template <class Types, class T, class Offset>
void run_product(const Host&, Op, const MixedProduct<Types, CsrView<const T, Offset>>&);
template <class Types, class T, class Offset>
void run_product(const Cuda&, Op, const MixedProduct<Types, CsrView<const T, Offset>>&);
template <class Types, class T>
void run_product(const Host&, Op, const MixedProduct<Types, CooView<const T>>&);
template <class Types, class T>
void run_product(const Cuda&, Op, const MixedProduct<Types, CooView<const T>>&);

}  // namespace krill
