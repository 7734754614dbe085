// Incomplete factorizations that drop what is small: ILUT(p, tau), ILUTP and ICT(p, tau) (Saad 1994; Saad 2003, section
// 10.4).
#pragma once
#include <optional>

#include "sparse/factor/fill.hpp"
#include "sparse/factor/incomplete.hpp"

namespace krill {

/// L U or L L^H of a matrix, with a pattern that its values choose. Rows of U, and of L, are found one after the other:
///
/// ILUT: row i of A is eliminated with the rows above by ascending column. An entry left of the diagonal of modulus
/// below tau ||a_i||_2 is dropped when its turn comes, before it is divided by its pivot (Saad divides first; so
/// scalings of rows, by powers of 2, drop the same); one right of it in the end. Then the p largest multipliers and the
/// p largest entries of U stay, of equal ones the left one. With `pivoting` (ILUTP; Saad 2003, section 10.4.4) columns
/// are exchanged before anything of U is dropped: where the largest |u_ij| times `pivoting` exceeds |u_ii|, of equal
/// ones the left one, column j takes the place of the diagonal; so L U ~ A Q. ICT, for the Hermitian matrix whose lower
/// triangle A stores: row k of U = L^H is what the rows above leave of A's; before it is divided by its pivot, entries
/// of modulus below tau times the norm of A's row from the diagonal on are dropped, and the p largest stay. With
/// `compensates`, a dropped w = (k, j) adds |w| sqrt(d_k / d_j) to d_k and |w| sqrt(d_j / d_k) to d_j, what is left on
/// the diagonal: so all pivots of a positive definite matrix are positive (Ajiz and Jennings 1984).
///
/// Entries that are 0 are dropped in any case; the diagonal stays. Found on the host by one thread, whatever the
/// backend, in the order of the textbook: the same bits everywhere.
template <class T, class Offset = std::int32_t>
class ThresholdFactor {
 public:
  /// A factor without rows, before the first update().
  static ThresholdFactor analyze(Context&, const Csr<T, Offset>& A, Factorization, const DropOptions&,
                                 const FillRoom& = {}, std::optional<PivotBoost<T>> = {});

  /// Factors A, with its diagonal multiplied by 1 + shift. O(sum over entries l_ik of the length of row k of U, and
  /// log p an entry). Takes sizeof T + 4 bytes an entry of the factor, twice for a moment, and some vectors. Waits.
  /// Raises ShapeMismatch unless A is square, InvalidArgument for options out of range, a boost or pivoting of ICT, and
  /// OutOfMemory, as soon as it is seen, for more entries than there is room for.
  void update(Context&, const Csr<T, Offset>& A, double shift = 0);

  /// L without its diagonal of ones and U, or L.
  const Csr<T, Offset>& matrix() const { return matrix_; }
  Factorization kind() const { return kind_; }
  /// Q: column j of A Q is column columns()[j] of A, and with L U y = r, A x = r has the approximate solution x = Q y,
  /// x[columns()[j]] = y[j]. Empty where no column moved.
  const Array<std::int32_t>& columns() const { return columns_; }
  /// Pivots that are not of their row's own column: columns that moved.
  std::int32_t moved() const { return moved_; }
  /// Entries over those of A, for ICT of its lower triangle.
  double fill_ratio() const { return fill_ratio_; }

  /// Never: a pivot that A lacks is one of 0.
  std::optional<std::int32_t> structural_zero() const { return {}; }
  /// The first row whose pivot is 0, or for ICT not positive or NaN. Boosted pivots do not count.
  std::optional<std::int32_t> numerical_zero() const { return zero_; }
  /// The first row whose pivot is NaN or infinite.
  std::optional<std::int32_t> not_finite() const { return not_finite_; }
  std::int32_t boosts() const { return boosts_; }

 private:
  ThresholdFactor(std::int32_t cols, Factorization kind, const DropOptions& options, const FillRoom& room,
                  std::optional<PivotBoost<T>> boost);

  Factorization kind_;
  DropOptions options_;
  FillRoom room_;
  std::optional<PivotBoost<T>> boost_;
  Csr<T, Offset> matrix_;
  Array<std::int32_t> columns_;
  std::int32_t moved_ = 0;
  double fill_ratio_ = 1;
  std::optional<std::int32_t> zero_, not_finite_;
  std::int32_t boosts_ = 0;
};

}  // namespace krill
