// BiCGStab, preconditioned from the right (van der Vorst 1992).
#pragma once
#include "solvers/bicgstab_passes.hpp"
#include "solvers/krylov.hpp"
#include "solvers/work.hpp"

namespace krill {

/// Solves general systems with short recurrences: two products and two preconditioners an iteration, which may end
/// after the first half. A breakdown starts it anew from the true residual, a bounded number of times. Keeps 7 vectors
/// beside b and x.
template <class T>
class Bicgstab final : public Krylov<T> {
 public:
  Bicgstab(const Operator<T>& A, const Preconditioner<T>& M, const BicgstabOptions& = {});
  /// The memory that a solve takes. preconditioned: M is not the identity, so its results take a vector of their own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const BicgstabOptions&, bool preconditioned);

 private:
  static constexpr std::int64_t vectors = 6;  // shadow residual, p, v, t, and y and z of the preconditioner

  void start(Context&) override;
  void iterate_once(Context&) override;
  Body whole(Context&) override;
  void settle(Context&) override;
  std::int64_t own_vectors() const override { return vectors; }

  void direction(Context&);
  void half(Context&);
  void update(Context&, const Array<T>& y, const Array<T>& z);

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::progress_;
  Array<T> shadow_, p_, v_, t_, y_, z_;
  const Array<T>* direction_ = &p_;  // M p of the last iteration: p_ itself or y_
  Array<wide_t<T>> shadow_v_, ts_, tt_;
  Array<detail::BicgstabScalars<kernel_t<T>>> scalars_;
};

/// Two products, and the updates of p, s, x and r: six, with four dots. s is M s, or read twice more.
inline SolveWork work(const BicgstabOptions&, int iterations) {
  return {2.0 * iterations, 19.0 * iterations, 10.0 * iterations, 2.0 * iterations, {}, 2.0 * iterations};
}

}  // namespace krill
