// Approximate triangular solves, whose rows do not wait for each other: a few products in place of a substitution.
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "sparse/core/memory_ledger.hpp"
#include "sparse/core/work.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill {

enum class ApproximateMethod {
  /// Jacobi's iteration from zero (Anzt, Chow and Dongarra 2015): x = D^-1 (alpha b - N x), N the triangle without its
  /// diagonal D. The first step costs no product. As many steps as the triangle has levels solve it.
  jacobi,
  /// A product with an incomplete sparse approximate inverse (Anzt, Huckle, Braeckle and Dongarra 2018): M has the
  /// pattern of the triangle T as it is stored, and M T that of the identity inside of that pattern. With op, op(M).
  isai,
};

struct ApproximateOptions {
  ApproximateMethod method = ApproximateMethod::jacobi;
  /// jacobi: steps, 1 or more. isai: corrections x += M (alpha b - op(T) x) after the first product, 0 or more.
  std::int32_t steps = 3;
};

/// op(T)^-1 b, approximately, for a triangle T of a square matrix; a fixed linear operator. That of op adjoint is the
/// adjoint of that of op none with the same options, so a solve with both triangles of L L^H stays Hermitian.
///
/// Zeros on the diagonal raise nothing, as the values may still change: ask zero_pivot().
template <class T, class Offset = std::int32_t>
class ApproximateTriangularPlan {
 public:
  /// Keeps what it needs of A. Takes sizeof T + 4 bytes an entry of the triangle, twice that for op other than none,
  /// twice it all for isai with corrections, and up to 3 sizeof T + 2 sizeof Offset a row. The rows of M are found by a
  /// thread each, whatever their length: O(entries of the rows that a row has entries for). Waits; not inside a
  /// capture. Raises ShapeMismatch unless A is square, InvalidArgument for too few steps.
  ApproximateTriangularPlan(Context&, const Csr<T, Offset>& A, Triangle, ApproximateOptions = {});
  ApproximateTriangularPlan(ApproximateTriangularPlan&&) noexcept;
  ApproximateTriangularPlan& operator=(ApproximateTriangularPlan&&) noexcept;
  ~ApproximateTriangularPlan();
  static HeldMemory memory(MemoryLedger&, const Csr<T, Offset>& A, Triangle, ApproximateOptions = {});

  std::int32_t rows() const;
  /// Of the triangle, beside its diagonal.
  std::int64_t entries() const;
  std::size_t bytes() const;
  /// Of a solve where b and x are two arrays.
  Work work() const;

  /// New values of the same pattern. No wait, capturable after a first run. Raises ShapeMismatch where nnz differs.
  void update(Context&, const Csr<T, Offset>& A);

  /// The first row that has no entry on its diagonal. None for Diagonal::unit.
  std::optional<std::int32_t> structural_zero() const;
  /// The first row whose diagonal entry is stored and zero, with the present values. Waits.
  std::optional<std::int32_t> numerical_zero() const;
  /// The first of both.
  std::optional<std::int32_t> zero_pivot() const;

  /// x ~ alpha op(T)^-1 b; b and x may be the same array. A product with the triangle for each step of jacobi but the
  /// first; one, and two more a correction, for isai. Asynchronous, capturable after a first run, the same bits in
  /// every run. One solve at a time. Raises ShapeMismatch.
  void solve(Context&, const Scalar<T>& alpha, const Array<T>& b, Array<T>& x) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace krill
