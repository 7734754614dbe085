#include "solvers/multigrid/polynomial.hpp"

#include <array>
#include <cstddef>

namespace krill {
namespace {

/// Found by Newton's method from the condition that all k + 1 maxima of the bound are equal; a test computes these.
constexpr std::array<std::array<double, 6>, 6> optimal_weights{{
    {1.12500000000000},
    {1.02387287570313, 1.26408905371086},
    {1.00842544782028, 1.08867839208731, 1.33753125909619},
    {1.00391310427285, 1.04035811188593, 1.14863498546255, 1.38268869241001},
    {1.00212930146165, 1.02173711549261, 1.07872433192603, 1.19810065292663, 1.41322542791682},
    {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218445, 1.43524297106745},
}};

}  // namespace

SmootherPolynomial fourth_kind_chebyshev(int degree, double max_eigenvalue) {
  SmootherPolynomial polynomial;
  const auto& weights = optimal_weights.at(static_cast<std::size_t>(degree) - 1);
  for (int k = 0; k < degree; ++k)
    polynomial.steps.push_back({(2.0 * k - 1) / (2.0 * k + 3), (8.0 * k + 4) / ((2.0 * k + 3) * max_eigenvalue),
                                weights[static_cast<std::size_t>(k)]});
  return polynomial;
}

SmootherPolynomial jacobi_steps(int steps) {
  return {std::vector<SmootherPolynomial::Term>(static_cast<std::size_t>(steps), {0, 1, 1})};
}

double error_factor(const SmootherPolynomial& polynomial, double eigenvalue) {
  double r = 1, d = 0, x = 0;
  for (const auto& step : polynomial.steps) {
    r -= eigenvalue * d;
    d = step.old * d + step.fresh * r;
    x += step.weight * d;
  }
  return 1 - eigenvalue * x;
}

}  // namespace krill
