// Triangular solves: op(A) x = alpha b, with one triangle of A (kernel catalogue L2-CSRSV2, L2-BSRSV2, L3-CSRSM2,
// L3-BSRSM2).
#pragma once
#include <optional>
#include <string>

#include "sparse/core/work.hpp"
#include "sparse/formats/bsr.hpp"
#include "sparse/formats/dense.hpp"
#include "sparse/triangular/levels.hpp"
#include "sparse/triangular/method.hpp"

namespace krill {

struct TriangularOptions {
  TriangularMethod method = TriangularMethod::automatic;
  /// Of the same triangle, where its levels have been found before; it is copied.
  const LevelSchedule* levels = nullptr;
};

/// What a TriangularPlan does.
struct TriangularReport {
  TriangularMethod method = TriangularMethod::natural;
  std::string why;                      ///< a sentence, with the numbers behind it
  std::int32_t levels = 0, widest = 0;  ///< 0 where levels were not looked for
  std::int64_t entries = 0;             ///< of the triangle beside its diagonal
};

/// A triangle of a square matrix, prepared to be solved with many times. It keeps what it needs of A: A may go, or
/// change its values, which the plan takes over by update().
///
/// Zeros on the diagonal raise nothing, as the values may still change: ask zero_pivot(). With one, solutions have
/// infinities or NaN.
template <class T, class Offset = std::int32_t>
class TriangularPlan {
 public:
  /// Finds the order of rows and takes the values over. O(nnz). Takes (sizeof T + 4) bytes an entry of the triangle,
  /// padding of rows to groups of 32 aside, and some sizeof T + 2 sizeof Offset + 16 a row. Not inside a capture.
  /// Raises ShapeMismatch unless A is square.
  TriangularPlan(Context&, const Csr<T, Offset>& A, Triangle, TriangularOptions = {});
  /// The same as with A in CSR, the zeros in its blocks included: so inside a diagonal block only its own triangle
  /// counts.
  TriangularPlan(Context&, const Bsr<T>& A, Triangle, TriangularOptions = {});
  TriangularPlan(TriangularPlan&&) noexcept;
  TriangularPlan& operator=(TriangularPlan&&) noexcept;
  ~TriangularPlan();
  /// What the first of those takes; options.levels may be found on the host.
  static HeldMemory memory(MemoryLedger&, Context& host, const Csr<T, Offset>& A, Triangle, TriangularOptions = {});

  std::int32_t rows() const;
  const TriangularReport& report() const;
  std::size_t bytes() const;
  /// Of a solve with one right-hand side.
  Work work() const;

  /// New values of the same pattern. O(nnz), no wait, capturable. Raises ShapeMismatch where nnz differs.
  void update(Context&, const Csr<T, Offset>& A);
  void update(Context&, const Bsr<T>& A);

  /// The first row (block row, for BSR) that has no entry on its diagonal. None for Diagonal::unit.
  std::optional<std::int32_t> structural_zero() const;
  /// The first row (block row) whose diagonal entry is stored and zero, with the present values. Waits.
  std::optional<std::int32_t> numerical_zero() const;
  /// The first of both.
  std::optional<std::int32_t> zero_pivot() const;

  /// op(A) x = alpha b; b and x may be the same array. Asynchronous, capturable after a first run, the same bits in
  /// every run. NaN and infinities in A or b go into x as arithmetic has it. Raises ShapeMismatch.
  void solve(Context&, const Scalar<T>& alpha, const Array<T>& b, Array<T>& x) const;
  /// The same for every column of B; B and X may be the same matrix. On CUDA eight columns at a time; 32, a block each,
  /// by one_block.
  void solve(Context&, const Scalar<T>& alpha, const Dense<T>& B, Dense<T>& X) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace krill
