// Incomplete factorizations without fill: ILU(0) and IC(0), the factor in the pattern of the matrix (kernel catalogue
// PRE-ILU0, PRE-IC0, PRE-BILU0, PRE-BIC0; Meijerink and van der Vorst 1977).
#pragma once
#include <memory>
#include <optional>

#include "sparse/factor/factorization.hpp"
#include "sparse/formats/bsr.hpp"
#include "sparse/triangular/levels.hpp"

namespace krill {

/// A pivot of modulus <= tolerance becomes `value`, times its own sign or phase if it keeps that (a zero has none). For
/// ILU(0) alone.
template <class T>
struct PivotBoost {
  double tolerance = 0;
  T value{};
  bool keeps_phase = false;
  friend bool operator==(const PivotBoost&, const PivotBoost&) = default;
};

/// An incomplete factor of a matrix, which follows new values of the same pattern. No pivoting.
///
/// A matrix in BSR is factored entry by entry, the zeros in its blocks included: so diagonal blocks become their own
/// factors, and the factor fills the same blocks.
///
/// Pivots that are zero raise nothing: ask zero_pivot(). Rows that use such a pivot have infinities or NaN.
template <class T, class Offset = std::int32_t>
class IncompleteFactor {
 public:
  /// Analysis, then update(). Takes the memory of A once more, sizeof Offset + 8 bytes
  /// a row, and on CUDA a list of what each row waits for: 1 + sizeof Offset bytes for each entry
  /// of the factor that a row takes up (6 a row for seven-point stencils, 114 for 27 points).
  /// Not inside a capture. Raises ShapeMismatch unless A is square, InvalidArgument for IC(0) with a boost.
  IncompleteFactor(Context&, const Csr<T, Offset>& A, Factorization, std::optional<PivotBoost<T>> = {});
  IncompleteFactor(Context&, const Bsr<T>& A, Factorization, std::optional<PivotBoost<T>> = {});

  /// The analysis alone: there is no factor before the first update().
  static IncompleteFactor analyze(Context&, const Csr<T, Offset>& A, Factorization, std::optional<PivotBoost<T>> = {});
  IncompleteFactor(IncompleteFactor&&) noexcept;
  IncompleteFactor& operator=(IncompleteFactor&&) noexcept;
  ~IncompleteFactor();

  /// The schedule that a factor finds, and what an analysis with it and an update take.
  static LevelSchedule find_schedule(Context&, const Csr<T, Offset>& A, bool for_cuda);
  static HeldMemory memory(MemoryLedger&, Context& host, const Csr<T, Offset>& A, Factorization, const LevelSchedule&);

  /// New values of the same pattern. On the host row after row, in the arithmetic of the textbook; on CUDA one kernel
  /// in which rows wait for those that they need, repeatable bitwise. No analysis, no wait, capturable after a first
  /// run. Raises ShapeMismatch where nnz differs, InvalidArgument on the other backend than that of the constructor.
  /// With a shift, A's diagonal is multiplied by 1 + shift first: for IC(0) of matrices that it breaks down for
  /// (Manteuffel 1980).
  void update(Context&, const Csr<T, Offset>& A, double shift = 0);
  void update(Context&, const Bsr<T>& A, double shift = 0);

  /// In the pattern of A; entry by entry where that is in blocks.
  const Csr<T, Offset>& matrix() const;
  /// The factor into the values of a matrix like the A in blocks that it was made of; what they hold outside of the
  /// matrix stays. Moves nnz (2 sizeof T + sizeof Offset) bytes. Raises ShapeMismatch.
  void store(Context&, Bsr<T>& factor) const;
  Factorization kind() const;
  const LevelSchedule& schedule() const;
  std::size_t bytes() const;

  /// The first row (block row, for BSR) without an entry on its diagonal.
  std::optional<std::int32_t> structural_zero() const;
  /// The first row (block row) whose pivot is zero, or for IC(0) not positive or NaN; with the present values. Boosted
  /// pivots do not count. Waits.
  std::optional<std::int32_t> numerical_zero() const;
  /// The first of both.
  std::optional<std::int32_t> zero_pivot() const;
  /// The first row (block row) whose pivot is NaN or infinite. Waits.
  std::optional<std::int32_t> not_finite() const;
  /// Pivots that were boosted. Waits.
  std::int32_t boosts() const;

 private:
  struct Body;
  explicit IncompleteFactor(std::unique_ptr<Body>);

  std::unique_ptr<Body> body_;
};

}  // namespace krill
