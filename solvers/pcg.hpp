// Preconditioned conjugate gradients (Hestenes and Stiefel 1952).
#pragma once
#include "solvers/krylov.hpp"
#include "solvers/work.hpp"

namespace krill {

/// Solves A x = b for Hermitian positive definite A and M, one product and one preconditioner an iteration. p'Ap <= 0
/// ends it as not_positive_definite, r'Mr <= 0 as indefinite_preconditioner. Keeps 4 vectors beside b and x.
template <class T>
class Pcg final : public Krylov<T> {
 public:
  Pcg(const Operator<T>& A, const Preconditioner<T>& M, const PcgOptions& = {});
  /// The memory that a solve takes. preconditioned: M is not the identity, so its results take a vector of their own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const PcgOptions&, bool preconditioned);

 private:
  static constexpr std::int64_t vectors = 3;  // z, p, q

  void start(Context&) override;
  void iterate_once(Context&) override;
  Body whole(Context&) override;
  std::int64_t own_vectors() const override { return vectors; }

  void direction(Context&, const Array<double>& rho, const Array<T>& z);
  void update(Context&, const Array<double>& rho);

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::progress_;
  Array<T> z_, p_, q_;
  Array<double> rho_, rho_old_;
  Array<wide_t<T>> pq_;
};

/// q = A p, then x += alpha p, r -= alpha q and p = r + beta p; the two dots in the passes that have their operands.
inline SolveWork work(const PcgOptions&, int iterations) {
  return {1.0 * iterations, 11.0 * iterations, 5.0 * iterations, 1.0 * iterations};
}

}  // namespace krill
