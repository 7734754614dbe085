// The judge of multigrid: smoothed aggregation by Eigen, in double complex, for aggregates and strong connections that
// are given. It shares nothing with the code under test: orthogonal factors by reflections, polynomials by another
// recurrence, the coarsest system by a dense factorization.
#pragma once
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/oracle.hpp"

namespace krill::test {

/// From one level to the next coarser one.
struct CoarseningStep {
  std::vector<std::int32_t> of_node;                       ///< aggregate of each node; -1: none
  std::set<std::pair<std::int32_t, std::int32_t>> strong;  ///< pairs of nodes, each both ways
  std::int32_t block_dim = 1;                              ///< rows of a node
  double damping = 0;                                      ///< omega / lambda of P; 0: the tentative prolongator
  bool restricts_by_adjoint = false;                       ///< R = Q^H, Q the prolongator of A^H; else R = P^H
};

/// The smoother of a level: x_k = sum of weights_i (y_i - y_(i-1)), y_i with the residual W_i(I - 2 / lambda A D^-1) r
/// / (2 i + 1), W_i the Chebyshev polynomials of the fourth kind, W_i(cos t) = sin((i + 1/2) t) / sin(t / 2).
struct JudgeSmoother {
  double lambda = 2;
  std::vector<double> weights = {1, 1};  ///< as many as the degree; ones: the polynomial itself
};

class MultigridJudge {
 public:
  /// `candidates` are columns, each as long as A has rows.
  MultigridJudge(const Reference& A, const std::vector<std::vector<Z>>& candidates,
                 const std::vector<CoarseningStep>& steps);
  ~MultigridJudge();

  int levels() const;
  Reference matrix(int level) const;       ///< R A P of the level before, ones on the diagonal of dead columns
  Reference prolongator(int level) const;  ///< from level + 1 to level
  Reference restriction(int level) const;  ///< from level to level + 1
  std::vector<std::vector<Z>> candidates(int level) const;

  /// The smoother of that level applied to r, from x = 0.
  std::vector<Z> smoothed(int level, const JudgeSmoother&, const std::vector<Z>& r) const;
  /// A V cycle from x = 0, each level smoothed before and after by its own of `smoothers`, one fewer than levels. The
  /// coarsest system is solved exactly, a singular one by its pseudo-inverse.
  std::vector<Z> cycle(const std::vector<JudgeSmoother>& smoothers, const std::vector<Z>& r) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace krill::test
