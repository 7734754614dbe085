// How far a solve is, kept where the solve runs.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>

#include "sparse/core/reason.hpp"

namespace krill {

/// One record a solve, on the backend's side, written by passes alone. Norms are those of the scaled system.
struct Progress {
  Reason reason = Reason::running;
  Reason stop_requested = Reason::running;  ///< the only word the host writes; read between iterations, or their steps
  int iteration = 0;
  int iteration_limit = 0;
  double rhs2 = 0;         ///< ||b||^2
  double initial2 = 0;     ///< ||b - A x0||^2
  double baseline2 = 0;    ///< what relative figures are relative to, squared
  double target2 = 0;      ///< squared norm to reach
  double residual2 = 0;    ///< squared norm of the recurrence's residual after `iteration` iterations
  double divergence2 = 0;  ///< squared norm that means divergence
  double best2 = 0;        ///< least squared norm at the last time it fell by 1 %
  int best_iteration = 0;  ///< and when that was
  int stagnation = 0;      ///< iterations without such a fall that end the solve; 0: never
  double* history =
      nullptr;  ///< residual norm after each iteration, iteration_limit + 1 entries, on the backend's side

  /// Books the squared residual norm after one more iteration and says whether that ends the solve.
  constexpr Reason note(double norm2) {
    ++iteration;
    return correct(norm2);
  }
  /// The same for an iteration that is counted already: at the start, or for a residual that was computed anew.
  constexpr Reason correct(double norm2) {
    residual2 = norm2;
    history[iteration] = norm2;
    if (norm2 <= 0.9801 * best2) best2 = norm2, best_iteration = iteration;
    return verdict();
  }
  /// note(), and the loop ends where there is a reason.
  constexpr void observe(double norm2) { reason = note(norm2); }

  /// Written so that NaN never passes for convergence.
  constexpr Reason verdict() const {
    if (!(residual2 - residual2 == 0)) return Reason::not_finite;
    if (residual2 <= target2) return Reason::converged;
    if (iteration >= iteration_limit) return Reason::max_iterations;
    if (residual2 > divergence2) return Reason::diverged;
    if (stagnation > 0 && iteration - best_iteration >= stagnation) return Reason::stagnated;
    return Reason::running;
  }
  /// On the host, between two iterations or steps of one: what the watcher wishes.
  template <class Watcher>
  void ask(const Watcher& watcher) {
    if (stop_requested == Reason::running) stop_requested = watcher(*this);
  }
  /// Between two iterations; true to go on.
  constexpr bool go_on() {
    if (reason == Reason::running && stop_requested != Reason::running) reason = stop_requested;
    return reason == Reason::running;
  }
};

/// What follows from b - A x, computed anew after the loop. One record a solve, on the backend's side; squared norms of
/// the scaled system.
struct Truth {
  double residual2 = std::numeric_limits<double>::infinity();
  // When a solve goes on from its true residual: while that at least halves from one attempt to the next, in squared
  // norms a quarter, and no more than ten times. Rules of the method, not varied.
  static constexpr int max_restarts = 10;
  static constexpr double max_ratio2 = 0.25;

  int restarts = 0;      ///< from the true residual
  bool met = false;      ///< x, as the caller gets it, meets the target
  bool goes_on = false;  ///< the method starts anew from that residual
  bool keeps_guess = false;
  std::int64_t lost = 0;  ///< entries of x that the caller's array cannot hold as they are: too large, or too small

  /// The true residual decides: a finite x that meets the tolerance is a solution whatever ended the loop, and no other
  /// x is. Otherwise the method starts anew from that residual, if that promises a gain, a bounded number of times.
  constexpr void decide(double found2, const Progress& progress) {
    const Reason why = progress.reason;
    const bool can_go_on =
        lost == 0 && (why == Reason::converged || why == Reason::breakdown_rho || why == Reason::breakdown_omega);
    met = found2 - found2 == 0 && found2 <= progress.target2;
    goes_on = !met && can_go_on && found2 <= max_ratio2 * residual2 && restarts < max_restarts;
    keeps_guess = !goes_on && !met && !(found2 < progress.initial2);
    residual2 = found2;
    if (goes_on) ++restarts;
  }
  /// Why the solve ended. A breakdown of a recurrence that had long left the truth behind says nothing of the matrix.
  constexpr Reason verdict(const Progress& progress) const {
    const Reason why = progress.reason;
    const bool drifted = drifted_from(progress.residual2, residual2);
    const bool broke_down = why == Reason::not_positive_definite || why == Reason::indefinite_preconditioner ||
                            why == Reason::breakdown_rho || why == Reason::breakdown_omega;
    if (met) return Reason::converged;
    if (lost > 0) return Reason::not_representable;
    return why == Reason::converged || (broke_down && drifted) ? Reason::stagnated : why;
  }
  /// Whether the recurrence's residual is less than half of the true one.
  static constexpr bool drifted_from(double recurrence2, double found2) { return recurrence2 < 0.25 * found2; }
};

/// What a watcher of a running solve is told now and then; norms relative to the baseline.
struct Sight {
  int iteration = 0;
  double relative = 0;
  double target_relative = 0;
  double seconds = 0;
};

/// Called every now and then by the thread that solves; false asks the solve to stop as `interrupted`.
using Watch = std::function<bool(const Sight&)>;

}  // namespace krill
