// Which approximate inverse, and how long its rows may be.
#pragma once
#include <cstdint>

namespace krill {

enum class InverseForm {
  /// M ~ A^-1 in the pattern of A (Anzt, Huckle, Braeckle and Dongarra 2018): M A is the identity inside of that
  /// pattern. Row i of M, with the columns J of row i, solves A(J, J)^T m = e_i, by elimination with partial pivoting.
  general,
  /// G ~ L^-1 of a Hermitian positive definite A = L L^H, in the pattern of A's lower triangle (Kolotilina and Yeremin
  /// 1993): row i of G, with the columns J up to the diagonal, is y^T / sqrt(y_i) with A(J, J)^T y = e_i. So G A has no
  /// entry left of the diagonal inside of the pattern, and G A G^H a diagonal of ones. The lower triangle of A alone is
  /// read; imaginary parts on the diagonal are ignored. G exists wherever A is positive definite.
  factored,
};

/// Rows of an inverse have no more entries than this: their systems are dense.
inline constexpr std::int32_t max_inverse_entries = 1024;

}  // namespace krill
