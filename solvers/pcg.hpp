// Preconditioned conjugate gradients (Hestenes and Stiefel 1952), also with a single reduction (Chronopoulos and Gear
// 1989) and flexible (Notay 2000).
#pragma once
#include <concepts>

#include "solvers/krylov.hpp"
#include "solvers/pcg_passes.hpp"
#include "solvers/work.hpp"

namespace krill {

/// Solves A x = b for Hermitian positive definite A and M, one product and one preconditioner an iteration. p'Ap <= 0
/// ends it as not_positive_definite, r'Mr <= 0 as indefinite_preconditioner. Keeps 4 vectors beside b and x, with a
/// single reduction 5.
template <class T>
class Pcg final : public Krylov<T> {
 public:
  Pcg(const Operator<T>& A, const Preconditioner<T>& M, const PcgOptions& = {});
  /// M may be another one in each iteration: directions are made orthogonal by A to the one before by a dot of its own.
  /// A template, so that braces without a type are PcgOptions.
  template <std::same_as<FcgOptions> Options>
  Pcg(const Operator<T>& A, const Preconditioner<T>& M, const Options& o)
      : Pcg(A, M, Form::flexible, o.max_iterations, 0, o.stop) {}
  /// The memory that a solve takes. preconditioned: M is not the identity, so its results take a vector of their own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const PcgOptions&, bool preconditioned);
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const FcgOptions&, bool preconditioned);

 private:
  enum class Form { classic, single_reduction, flexible };
  static constexpr int max_steps =
      8;  // of a single reduction in a body of the loop, after a replacement where it is due
  static constexpr std::int64_t vectors_of(Form form) { return form == Form::single_reduction ? 4 : 3; }  // z, p, q, w

  Pcg(const Operator<T>& A, const Preconditioner<T>& M, Form, int max_iterations, int replacement, const StopOptions&);

  void start(Context&) override;
  void iterate_once(Context&) override;
  Body whole(Context&) override;
  std::int64_t own_vectors() const override { return vectors_of(form_); }

  void direction(Context&, const Array<double>& rho, const Array<T>& z);
  void flexible_direction(Context&);
  void update(Context&, const Array<double>& rho);
  void replace(Context&);
  void single_reduction(Context&);
  void restart_single_reduction(Context&, bool anew);

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::progress_;
  Form form_;
  int replacement_;
  Array<T> z_, p_, q_, w_;
  Array<double> rho_, rho_old_;
  Array<wide_t<T>> pq_, qz_;
  Array<detail::SingleReductionScalars> scalars_;
};

/// q = A p, then x += alpha p, r -= alpha q and p = r + beta p; the two dots in the passes that have their operands.
/// With a single reduction the product is w = A z, and one pass does the rest.
inline SolveWork work(const PcgOptions& o, int iterations) {
  SolveWork sum{1.0 * iterations, 11.0 * iterations, 5.0 * iterations, 1.0 * iterations};
  if (o.method == PcgMethod::classic) return sum;
  const double replaced = o.replacement > 0 ? iterations / o.replacement : 0;
  sum.vectors += 7 * replaced;  // the pass has 10 of them, 9 where z is r
  sum.apart += iterations;
  sum.updates += iterations + replaced;
  sum.products += 2 * replaced;
  return sum;
}
/// The same, and a pass over r, z (where that is another one) and q for the dots that M's own cannot be.
inline SolveWork work(const FcgOptions&, int iterations) {
  return {1.0 * iterations, 13.0 * iterations, 7.0 * iterations, 1.0 * iterations, {}, 1.0 * iterations};
}

}  // namespace krill
