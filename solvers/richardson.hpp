// Preconditioned Richardson iteration (Richardson 1911; kernel catalogue PRE-RECIPE-RICHARDSON).
#pragma once
#include "solvers/krylov.hpp"
#include "solvers/work.hpp"

namespace krill {

/// x += relaxation * M (b - A x), one product and one preconditioner an iteration. Converges where the spectral radius
/// of I - relaxation * M A is below 1. With an exact M this is iterative refinement. Keeps 3 vectors beside b and x.
template <class T>
class Richardson final : public Krylov<T> {
 public:
  Richardson(const Operator<T>& A, const Preconditioner<T>& M, const RichardsonOptions& = {});
  /// The memory that a solve takes. preconditioned: M is not the identity, so its results take a vector of their own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const RichardsonOptions&, bool preconditioned);

 private:
  static constexpr std::int64_t vectors = 2;  // z, q

  void start(Context&) override {}
  void iterate_once(Context&) override;
  std::int64_t own_vectors() const override { return vectors; }

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::progress_;
  real_t<T> relaxation_;
  Array<T> z_, q_;
};

/// q = A z, then x += omega z and r -= omega q with the norm of r.
inline SolveWork work(const RichardsonOptions&, int iterations) {
  return {1.0 * iterations, 7.0 * iterations, 3.0 * iterations, 1.0 * iterations, {}, 1.0 * iterations};
}

}  // namespace krill
