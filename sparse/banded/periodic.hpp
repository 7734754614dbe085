// Solves with periodic (cyclic) tridiagonal and pentadiagonal matrices: the first unknowns of a system and its last
// ones are neighbors, as on a ring.
#pragma once
#include <vector>

#include "sparse/banded/banded_plan.hpp"

namespace krill {

/// A batch of matrices whose bands go round: row i has a(i, i + k) where i + k is counted modulo the number of rows, so
/// every place of the bands is an entry. The last unknown of a system, the last two with five diagonals, border the
/// others: A = [B C; D E] with B as BandedPlan has it, so that with Z = B^-1 C and S = E - D Z a solve is y = B^-1 b_1,
/// x_2 = S^-1 (b_2 - D y), x_1 = y - Z x_2 (Hager 1989 on such updates). update() computes Z and S^-1; a solve costs
/// one of BandedPlan and reads Z and x once more. Stable where B is well conditioned: dominant and definite matrices
/// have such a B.
template <class T>
class PeriodicBandedPlan {
 public:
  /// For matrices of this layout, of at least as many rows as diagonals; computes what A's values
  /// give. Keeps a reference to A. Raises InvalidArgument.
  PeriodicBandedPlan(Context&, const Banded<T>& A, BandedMethod method = BandedMethod::lu);
  /// After A's values have changed. As asynchronous as a solve; costs two solves, or three with five diagonals.
  void update(Context&);

  /// A_j x_j = b_j for every system, in A's layout; b and x may be the same array, but no band of A. Padding stays as
  /// it is. Asynchronous, capturable, the same bits in every run and for any number of threads. Raises ShapeMismatch,
  /// and InvalidArgument where x is a band.
  void solve(Context&, const Array<T>& b, Array<T>& x);

  /// The first system whose elimination met a zero pivot when update() last ran, and the row. Waits.
  std::optional<BandedZeroPivot> zero_pivot() const;
  std::size_t bytes() const;

 private:
  const Banded<T>& A_;
  BandedPlan<T> inner_;            // solves with B
  std::vector<Array<T>> border_;   // Z, a column each
  Array<T> corner_;                // S^-1, row after row, for each system
  Array<std::int32_t> zero_rows_;  // of update()
};

}  // namespace krill
