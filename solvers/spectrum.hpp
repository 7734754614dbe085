// How large the eigenvalues of D^-1 A are, for polynomials in it.
#pragma once
#include <cstdint>
#include <optional>

#include "solvers/bad_row.hpp"
#include "solvers/operator.hpp"

namespace krill {

struct SpectrumEstimate {
  double ritz = 0;            ///< the largest Ritz value
  double row_bound = 0;       ///< the greatest sum of moduli in a row of D^-1 A: no eigenvalue is larger
  double upper = 1;           ///< what the largest eigenvalue is not expected to exceed
  std::int64_t products = 0;  ///< with A
  /// The first row whose sum is not finite; the figures mean nothing then.
  std::int32_t bad_row = detail::BadRow::none;
  /// p'Ap where that is not positive, or not finite: A is not definite. `upper` is the bound then.
  std::optional<double> bad_curvature = {};
};

/// The largest eigenvalue of D^-1 A for Hermitian positive definite A: the largest Ritz value of so many Lanczos steps
/// from a fixed random vector, plus the residual of its Ritz vector (Zhou and Li 2011), a tenth more than the Ritz
/// value at least, and never above the greatest row sum (Gershgorin 1931); that sum itself where it is at most 1.2
/// times the Ritz value, for which five steps may be enough. `inverse` has the entries of D^-1, which are positive; d
/// and w are room of A's size. `matrix` is that of the operator. Steps follow each other without a wait; waits after
/// five of them and at the end.
template <class T>
SpectrumEstimate estimate_spectrum(Context&, const Operator<T>& A, const AnyMatrix<T>& matrix,
                                   const Array<real_t<T>>& inverse, int steps, Array<T>& d, Array<T>& w);

/// The greatest row sum alone, for matrices that are not Hermitian, or entries of D^-1 that are not positive.
template <class T>
SpectrumEstimate bound_spectrum(Context&, const AnyMatrix<T>& matrix, const Array<real_t<T>>& inverse);

}  // namespace krill
