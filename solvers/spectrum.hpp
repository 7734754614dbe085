// How large the eigenvalues of D^-1 A are, for polynomials in it.
#pragma once
#include <cstdint>

#include "solvers/bad_row.hpp"
#include "solvers/operator.hpp"
#include "sparse/core/reason.hpp"

namespace krill {

/// The greatest sum of moduli in a row of D^-1 A: no eigenvalue is larger (Gershgorin 1931).
struct RowSums {
  double greatest = 0;
  /// The first row whose sum is not finite; `greatest` means nothing then.
  std::int32_t bad_row = detail::BadRow::none;
};
/// `inverse` has the entries of D^-1; `matrix` is that of the operator, which may have a team. Waits.
template <class T>
RowSums greatest_row_sum(Context&, const Operator<T>& A, const AnyMatrix<T>& matrix, const Array<real_t<T>>& inverse);

/// What Lanczos' process found.
struct LanczosFound {
  double ritz = 0;            ///< the largest Ritz value
  double upper = 0;           ///< what the largest eigenvalue is not expected to exceed; 0: the bound by rows
  double bad_curvature = 0;   ///< p'Ap of a direction where it is negative, or not finite: A is not definite
  std::int32_t products = 0;  ///< with A
  std::int32_t is_bad = 0;    ///< 1 where there is such a p'Ap
};

/// The largest eigenvalue of D^-1 A for Hermitian positive definite A, with what it needs: by so many Lanczos steps
/// from a fixed random vector.
template <class T>
class LanczosProcess {
 public:
  /// Of an operator with `rows` rows here. early_margin: five steps are enough where they leave a residual that is less
  /// than the Ritz value times so much over 1, which that value is multiplied by then; 0: none are. Of levels of ten
  /// systems (grids, jumps, elasticity, graphs), five steps find at least 0.88 of the largest eigenvalue, ten 0.94.
  LanczosProcess(std::int64_t rows, int max_steps, double early_margin = 0);

  /// `upper` is the bound by rows before, and after it the largest Ritz value plus the residual of its Ritz vector
  /// (Zhou and Li 2011), a tenth more than the Ritz value at least, and never above that bound; the bound itself where
  /// it is at most 1.2 times the Ritz value, for which five steps may be enough, too. `inverse` has the entries of
  /// D^-1, which are positive; d and w are room of A's size. No allocation after a first run. may_wait: for what five
  /// steps have found, so that no more products are asked for where they are enough; else the kernels of the others do
  /// nothing then, and the process is capturable after a first run.
  void run(Context&, const Operator<T>& A, const Array<real_t<T>>& inverse, Array<T>& d, Array<T>& w,
           Array<double>& upper, bool may_wait);
  /// Of the last run.
  const Array<LanczosFound>& found() const { return found_; }
  std::size_t bytes() const { return detail::bytes_of(other_, sums_); }

 private:
  int max_steps_;
  double early_margin_;
  Array<T> other_;      // of a step's vector and the one before, the one that is not in d
  Array<double> sums_;  // norms before each step and at the end, u'Au of each, and room for the tridiagonal matrix
  Array<wide_t<T>> curvature_{1, "lanczos u'Au"};
  Array<Reason> stop_{1, "lanczos end"};
  Array<LanczosFound> found_{1, "lanczos result"};
};

}  // namespace krill
