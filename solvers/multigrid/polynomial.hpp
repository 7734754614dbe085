// The polynomials that smooth.
#pragma once
#include <span>
#include <vector>

namespace krill {

/// A smoother in three-term form: d = first D^-1 b, x = weights[0] d; then for each further degree k
///   r -= A d,  d = old[k] d + fresh[k] D^-1 r,  x += weights[k] d.
/// Jacobi's method, Chebyshev polynomials of the first and of the fourth kind are all of it.
struct SmootherPolynomial {
  struct Term {
    double old, fresh, weight;
  };
  std::vector<Term> steps;  ///< the first one has no old d

  int degree() const { return static_cast<int>(steps.size()); }
};

/// The fourth-kind Chebyshev polynomial for eigenvalues in (0, max_eigenvalue], with the weights that minimize the
/// bound of a cycle's contraction, sup x p(x)^2 / (1 - p(x)^2) over (0, 1] for the error polynomial p (Lottes, Optimal
/// polynomial smoothers for multigrid V-cycles, 2023). degree: 1 to 6.
SmootherPolynomial fourth_kind_chebyshev(int degree, double max_eigenvalue);

/// Steps x += D^-1 (b - A x).
SmootherPolynomial jacobi_steps(int steps);

/// p(x) of the error, e_after = p(D^-1 A) e_before.
double error_factor(const SmootherPolynomial&, double eigenvalue);

}  // namespace krill
