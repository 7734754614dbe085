// A cycle over the levels of a multigrid method.
#pragma once
#include "solvers/multigrid/level.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/multigrid/small_levels.hpp"

namespace krill {

/// x = M b: smooth, ask the next coarser level for a correction, smooth again. Fixed and, with a smoother that is a
/// polynomial or sweeps, Hermitian where A is, but for MultigridCycle::k, which depends on b.
template <class T>
class Cycle {
 public:
  /// The levels have to stay. hermitian: positive definite, too, as far as is known.
  Cycle(MultigridCycle kind, bool hermitian, const MultigridLevels<T>& levels)
      : kind_(kind), hermitian_(hermitian), levels_(levels) {}

  /// On CUDA, small levels at the end become one kernel where the cycle is V. Once all levels are made.
  void join_small_levels(Context&);

  /// From x = 0. With dot, where takes_dot(): dot = Re b'x. With `wide`, where takes_wide(): b becomes that vector
  /// first. Asynchronous, capturable after a first run.
  void apply(Context&, const Array<T>& b, Array<T>& x, Array<double>* dot, const WideVector<T>& wide = {}) const;
  /// Whether apply() takes the dot in its last pass; a single level that is solved at once does not.
  bool takes_dot() const { return !levels_[0]->dense && levels_[0]->smoother->takes_dot(); }
  bool takes_wide() const { return !levels_[0]->dense && levels_[0]->smoother->takes_wide(); }
  /// Whether a level is solved by steps of a Krylov method, which takes vectors of its own.
  bool has_krylov_steps(std::size_t level) const;
  /// How often a cycle comes to a level.
  double visits(std::size_t level) const;
  /// Of all visits of a level; `products` are those with its matrix.
  ApplicationWork work_of(std::size_t level) const;
  /// Of apply(); `products` are those with the finest matrix where its level has none of its own.
  ApplicationWork work() const;

 private:
  void visit(Context&, std::size_t level, MultigridCycle, const Array<T>& b, Array<T>& x, bool from_zero,
             Array<double>* dot, const WideVector<T>& wide = {}) const;
  void correct(Context&, std::size_t level, MultigridCycle) const;
  void krylov_steps(Context&, std::size_t level) const;
  double returns(std::size_t level) const;

  MultigridCycle kind_;
  bool hermitian_;
  const MultigridLevels<T>& levels_;
  std::unique_ptr<detail::SmallLevels<T>> small_;
};

}  // namespace krill
