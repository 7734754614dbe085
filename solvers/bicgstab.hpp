// BiCGStab, preconditioned from the right (van der Vorst 1992).
#pragma once
#include "krill/solvers/bicgstab_passes.hpp"
#include "krill/solvers/krylov.hpp"

namespace krill {

/// Solves general systems with short recurrences: two products and two preconditioners an iteration, which may end
/// after the first half. A breakdown starts it anew from the true residual, a bounded number of times. Keeps 7 vectors
/// beside b and x.
template <class T>
class Bicgstab final : public Krylov<T> {
 public:
  Bicgstab(const Operator<T>& A, const Preconditioner<T>& M, const BicgstabOptions& = {});

 private:
  void start(Context&) override;
  void iterate_once(Context&) override;
  void settle(Context&) override;
  std::int64_t own_vectors() const override { return 6; }

  void direction(Context&);
  void half(Context&);
  void update(Context&, const Array<T>& y, const Array<T>& z);

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::progress_;
  Array<T> shadow_, p_, v_, t_, y_, z_;
  const Array<T>* direction_ = &p_;  // M p of the last iteration: p_ itself or y_
  Array<wide_t<T>> shadow_v_, ts_, tt_;
  Array<BicgstabScalars<kernel_t<T>>> scalars_;
};

}  // namespace krill
