// Incomplete factorisations without fill: ILU(0) and IC(0), the factor in the pattern of the matrix (kernel catalogue
// PRE-ILU0, PRE-IC0, PRE-BILU0, PRE-BIC0; Meijerink and van der Vorst 1977).
#pragma once
#include <optional>

#include "krill/sparse/formats/bsr.hpp"
#include "krill/sparse/triangular/levels.hpp"

namespace krill {

enum class Factorization {
  /// A ~ L U: the entries left of the diagonal become L, whose diagonal of ones is not stored, the others U.
  ilu0,
  /// A ~ L L^H for the Hermitian matrix whose lower triangle A stores: it becomes L. Entries right of the diagonal are
  /// neither read nor changed; imaginary parts on the diagonal are ignored.
  ic0,
};

/// A pivot of modulus <= tolerance becomes `value`, times its own sign or phase if it keeps that (a zero has none). For
/// ILU(0) alone.
template <class T>
struct PivotBoost {
  double tolerance = 0;
  T value{};
  bool keeps_phase = false;
};

/// A row at its place among those that CUDA factors (incomplete_passes.hpp).
template <class Offset>
struct FactorRow {
  std::int64_t shown = 0;  ///< where what it shows begins
  Offset begin = 0;        ///< its first entry
  std::int32_t row = 0;
  std::uint16_t items = 0;
  std::uint8_t entries = 0, lower = 0;  ///< that are factored; of them, left of the diagonal
  std::uint8_t turn = 0;                ///< levels between the slice's first row and this one
  bool has_diagonal = false, is_long = false;
};

/// An incomplete factor of a matrix, which follows new values of the same pattern. No pivoting.
///
/// A matrix in BSR is factored entry by entry, the zeros in its blocks included: so diagonal blocks become their own
/// factors, and the factor fills the same blocks.
///
/// Pivots that are zero raise nothing: whoever made the factor asks for them. What comes after one has infinities or
/// NaN.
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

  /// New values of the same pattern. On the host row after row, in the arithmetic of the textbook; on CUDA one kernel
  /// in which rows wait for those that they need, repeatable bitwise. No analysis, no wait, capturable after a first
  /// run. Raises ShapeMismatch where nnz differs, InvalidArgument on the other backend than that of the constructor.
  /// With a shift, A's diagonal is multiplied by 1 + shift first: for IC(0) of matrices that it breaks down for
  /// (Manteuffel 1980).
  void update(Context&, const Csr<T, Offset>& A, double shift = 0);
  void update(Context&, const Bsr<T>& A, double shift = 0);

  /// In the pattern of A; entry by entry where that is in blocks.
  const Csr<T, Offset>& matrix() const { return matrix_; }
  /// The factor into the values of a matrix like the A in blocks that it was made of; what they hold outside of the
  /// matrix stays. Moves nnz (2 sizeof T + sizeof Offset) bytes. Raises ShapeMismatch.
  void store(Context&, Bsr<T>& factor) const;
  Factorization kind() const { return kind_; }
  const LevelSchedule& schedule() const { return schedule_; }
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
  struct Analysis {};
  IncompleteFactor(Analysis, Context&, const Csr<T, Offset>& A, Factorization, std::optional<PivotBoost<T>>);
  IncompleteFactor(Context&, const Csr<T, Offset>& entries, Factorization, std::optional<PivotBoost<T>>,
                   const Bsr<T>& A);
  void find_items(Context&);
  void run(Context&, const Array<T>& values, double shift);

  Factorization kind_;
  std::optional<PivotBoost<T>> boost_;
  bool on_cuda_;
  std::int32_t first_missing_ = 0;
  LevelSchedule schedule_;
  Csr<T, Offset> matrix_;
  std::int32_t block_dim_ = 1;
  Array<Offset> places_{0, "places in blocks"};   // for BSR: of the entries
  Array<Offset> diagonals_;                       // of each row, where its entries from the diagonal on begin
  Array<T> gathered_{0, "values out of blocks"};  // for BSR: in the order of entries
  Array<std::int32_t> events_{3, "pivot events"};

  // For CUDA (incomplete_passes.hpp): what rows wait for.
  std::int32_t lanes_ = 1, most_items_ = 0, room_ = 0;
  bool has_long_rows_ = false;
  std::int64_t shown_ = 0;
  Array<FactorRow<Offset>> rows_{0, "rows in order"};
  Array<std::int64_t> slices_{0, "slices of items"};
  Array<Offset> gates_{0, "gates"}, positions_{0, "positions of items"};
  Array<std::uint8_t> codes_{0, "codes of items"};
};

}  // namespace krill
