// Which incomplete factorization.
#pragma once
#include <cstdint>

namespace krill {

enum class Factorization {
  /// A ~ L U: the entries left of the diagonal become L, whose diagonal of ones is not stored, the others U.
  ilu0,
  /// A ~ L L^H for the Hermitian matrix whose lower triangle A stores: it becomes L. Entries right of the diagonal are
  /// neither read nor changed; imaginary parts on the diagonal are ignored.
  ic0,
};

/// What a row of a factor keeps where its pattern is chosen by values (threshold.hpp).
struct DropOptions {
  std::int32_t max_row_entries = 20;  ///< p: in each of L and U, beside the diagonal; the largest stay
  double tolerance = 1e-3;            ///< tau: relative to the norm of the row of A
  bool compensates = false;           ///< of ICT: what is dropped is added to two entries of the diagonal
  double pivoting = 0;  ///< of ILUT: columns are exchanged where the largest |u_ij| times it exceeds |u_ii|; 0: never
};

/// How far the pattern of a factor by sweeps grows (fixed_point_threshold.hpp).
struct GrowthOptions {
  double fill = 2;          ///< entries of the factor over those of A, for Cholesky of its lower triangle
  std::int32_t cycles = 5;  ///< each adds entries and drops the smallest
};

}  // namespace krill
