// Restarted GMRES, preconditioned from the right (Saad and Schultz 1986).
#pragma once
#include <vector>

#include "solvers/gmres_passes.hpp"
#include "solvers/krylov.hpp"
#include "solvers/work.hpp"

namespace krill {

/// Minimises ||b - A x|| over Krylov spaces of `restart` vectors. The basis is made orthogonal by block Gram-Schmidt,
/// twice (blocks of 8), the residual is the true one at every restart. Keeps restart + 3 vectors beside b and x.
template <class T>
class Gmres final : public Krylov<T> {
 public:
  Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresOptions& = {});
  /// The memory that a solve takes. preconditioned: M is not the identity, so its results take a vector of their own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const GmresOptions&, bool preconditioned);

 private:
  static constexpr std::int64_t vectors_beside_basis = 3;  // its last one, z, u

  void start(Context&) override {}
  void iterate_once(Context&) override;  // one cycle
  std::int64_t own_vectors() const override { return restart_ + vectors_beside_basis; }

  void begin_cycle(Context&);
  void step(Context&, int j);
  void orthogonalize(Context&, int j);
  void close_cycle(Context&);

  template <class Where>
  detail::HessenbergView<kernel_t<T>> hessenberg(const Where&);
  template <class Where>
  detail::BasisGroup<kernel_t<T>> group(const Where&, int first, int end) const;

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::ss_,
      Krylov<T>::progress_;
  int restart_;
  std::vector<Array<T>> basis_;  // restart + 1
  Array<T> z_, u_;
  Array<wide_t<T>> h_, g_, sine_, y_, dots_;
  Array<double> cosine_, length_;
  Array<detail::Cycle> cycle_;
};

/// Step j of a cycle multiplies, makes w orthogonal to j vectors (once, which reads them twice) and normalizes it; a
/// cycle begins with the residual and ends with the update of x, which M is applied to once.
inline SolveWork work(const GmresOptions& o, int iterations) {
  SolveWork sum;
  for (int done = 0; done < iterations; done += o.restart) {
    const double steps = iterations - done < o.restart ? iterations - done : o.restart;
    sum.products += steps + 1;
    sum.applications += steps + 1;
    sum.vectors += steps * (steps + 1) + 7 * steps + (steps + 2) + 3;
    sum.updates += steps * (steps + 1) + 2 * steps + steps + 1;
  }
  return sum;
}

}  // namespace krill
