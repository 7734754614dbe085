// Restarted GMRES, preconditioned from the right (Saad and Schultz 1986).
#pragma once
#include <vector>

#include "krill/solvers/gmres_passes.hpp"
#include "krill/solvers/krylov.hpp"

namespace krill {

/// Minimises ||b - A x|| over Krylov spaces of `restart` vectors. The basis is made orthogonal by block Gram-Schmidt,
/// twice (blocks of 8), the residual is the true one at every restart. Keeps restart + 3 vectors beside b and x.
template <class T>
class Gmres final : public Krylov<T> {
 public:
  Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresOptions& = {});

 private:
  void start(Context&) override {}
  void iterate_once(Context&) override;  // one cycle
  std::int64_t own_vectors() const override { return restart_ + 3; }

  void begin_cycle(Context&);
  void step(Context&, int j);
  void orthogonalize(Context&, int j);
  void close_cycle(Context&);

  template <class Where>
  HessenbergView<kernel_t<T>> hessenberg(const Where&);
  template <class Where>
  BasisGroup<kernel_t<T>> group(const Where&, int first, int past) const;

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::progress_;
  int restart_;
  std::vector<Array<T>> basis_;  // restart + 1
  Array<T> z_, u_;
  Array<wide_t<T>> h_, g_, sine_, y_, dots_;
  Array<double> cosine_, length_;
  Array<Cycle> cycle_;
};

}  // namespace krill
