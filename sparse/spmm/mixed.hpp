// Products of a sparse matrix with a dense one or a vector, with separate types of storage, result and computation.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <variant>

#include "sparse/core/half.hpp"
#include "sparse/formats/coo.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/spmm/spmm.hpp"

namespace krill {

/// The types of a product: those of A's values, of B or x, of C or y, and what alpha, beta, products and sums are taken
/// in.
template <class StorageType, class VectorType, class ResultType, class ComputeType>
struct MixedTypes {
  using Storage = StorageType;
  using Vector = VectorType;
  using Result = ResultType;
  using Compute = ComputeType;
};

/// The combinations that there are: the narrow ones of the generic products (kernel catalogue 15.2), and matrices of
/// single precision in a computation of double precision (L2-CSRMVEX).
using MixedTable =
    std::tuple<MixedTypes<Half, Half, Half, float>,                                           // 16F, 16F -> 16F / 32F
               MixedTypes<Complex<Half>, Complex<Half>, Complex<Half>, std::complex<float>>,  // C_16F
               MixedTypes<Half, Half, float, float>,                                          // 16F -> 32F / 32F
               MixedTypes<BFloat16, BFloat16, BFloat16, float>,                               // 16BF -> 16BF / 32F
               MixedTypes<Complex<BFloat16>, Complex<BFloat16>, Complex<BFloat16>, std::complex<float>>,  // C_16BF
               MixedTypes<BFloat16, BFloat16, float, float>,                      // 16BF -> 32F / 32F
               MixedTypes<std::int8_t, std::int8_t, std::int32_t, std::int32_t>,  // 8I -> 32I / 32I
               MixedTypes<std::int8_t, std::int8_t, float, float>,                // 8I -> 32F / 32F
               MixedTypes<float, double, double, double>,                         // 32F, 64F -> 64F / 64F
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

/// The row of the table with these types of A, B and C; there is at most one.
template <class Storage, class Vector, class Result>
using mixed_types_t = decltype(detail::find_mixed<Storage, Vector, Result>(detail::AllMixedTypes<MixedTable>()));

/// C = alpha op_a(A) op_b(B) + beta C. A: Csr, Coo or CooAos; the types of A, B and C are a row of MixedTable. Shapes,
/// orders and beta are those of spmm. Values are widened exactly, products and sums are taken in Compute, and only C is
/// rounded, once. std::int32_t wraps around: 131,072 products of -128 and -128 are too many. Repeatable bitwise, for
/// any number of threads. Asynchronous and capturable after a first run; allocates nothing but workspace.
///
/// The kernels are spmm's: rows of any length are divided. What they need is found in each call, in the workspace:
/// tiles, COO row offsets (8 bytes a row), COO-AoS its indices apart, and the transpose of A (a sort, many times the
/// product); a MixedPlan keeps it. Moves A.bytes(), and B and C as spmm does. GEN-SPMM. Raises ShapeMismatch and
/// InvalidArgument.
template <class Matrix, class Vector, class Result, class Types = mixed_types_t<typename Matrix::Value, Vector, Result>>
void spmm_mixed(Context&, Op op_a, Op op_b, const Scalar<typename Types::Compute>& alpha, const Matrix& A,
                const Dense<Vector>& B, const Scalar<typename Types::Compute>& beta, Dense<Result>& C);

/// y = alpha op(A) x + beta y: the same for one column, in the same kernels. x: A.cols(op) entries, y: A.rows(op); they
/// are different arrays. GEN-SPMV, L2-CSRMVEX.
template <class Matrix, class Vector, class Result, class Types = mixed_types_t<typename Matrix::Value, Vector, Result>>
void spmv_mixed(Context&, Op, const Scalar<typename Types::Compute>& alpha, const Matrix& A, const Array<Vector>& x,
                const Scalar<typename Types::Compute>& beta, Array<Result>& y);

/// Products that are wanted often: op(A) in CSR where A is not that, and on CUDA its tiles, are made once. Types is a
/// row of MixedTable. A must outlive the plan and keep its pattern. Results are those of spmm_mixed and spmv_mixed, bit
/// by bit. Products are asynchronous, capturable after a first run, and allocate nothing but workspace. One product at
/// a time: a plan serves one stream.
template <class Types>
class MixedPlan {
 public:
  using Compute = typename Types::Compute;

  /// For B of that many columns; with other numbers of columns products are right as well, and tiles are found as
  /// spmm_mixed does. A: Csr, Coo or CooAos. Waits. Raises InvalidArgument where columns < 1.
  template <class Matrix>
  MixedPlan(Context& ctx, const Matrix& A, Op op, std::int64_t columns) : MixedPlan(Source(&A), ctx, op, columns) {}
  template <class Matrix>
  MixedPlan(Context&, const Matrix&& A, Op op, std::int64_t columns) = delete;  // A has to stay
  MixedPlan(MixedPlan&&) noexcept;
  MixedPlan& operator=(MixedPlan&&) noexcept;
  ~MixedPlan();

  std::int32_t rows() const;  ///< of op(A)
  std::int32_t cols() const;
  /// What the plan keeps beside A.
  std::size_t bytes() const;

  /// A has new values. O(nnz) for transposes; nothing otherwise.
  void update(Context&);

  /// C = alpha op(A) op_b(B) + beta C. Raises as spmm_mixed does.
  void apply(Context&, Op op_b, const Scalar<Compute>& alpha, const Dense<typename Types::Vector>& B,
             const Scalar<Compute>& beta, Dense<typename Types::Result>& C) const;
  /// y = alpha op(A) x + beta y.
  void apply(Context&, const Scalar<Compute>& alpha, const Array<typename Types::Vector>& x,
             const Scalar<Compute>& beta, Array<typename Types::Result>& y) const;

 private:
  struct Body;
  using Storage = typename Types::Storage;
  using Source =
      std::variant<const Csr<Storage>*, const Csr<Storage, std::int64_t>*, const Coo<Storage>*, const CooAos<Storage>*>;
  MixedPlan(const Source&, Context&, Op, std::int64_t columns);

  std::unique_ptr<Body> body_;
};

namespace detail {
/// The operands of a row of the table, but for A.
template <class Types>
using MixedDense = DenseOperands<kernel_t<typename Types::Vector>, kernel_t<typename Types::Result>,
                                 kernel_t<typename Types::Compute>>;
}  // namespace detail

/// The same as kernels get it: pointers on the tag's side, any index base. Entries lie at multiples of their size.
template <class Types, class View>
struct MixedProduct : detail::MixedDense<Types> {
  View a;
};

/// The kernels behind the door, for callers who own their memory, too. View: of a Csr, a Coo or a CooAos.
template <class Where, class Types, class View>
void run_product(const Where&, Op op_a, const MixedProduct<Types, View>&);

}  // namespace krill
