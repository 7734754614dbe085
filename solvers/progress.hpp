// How far a solve is, kept where the solve runs.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <type_traits>

#include "sparse/core/reason.hpp"
#include "sparse/core/types.hpp"

namespace krill {

namespace detail {

/// Nanoseconds of a clock of the processor that asks: std::chrono::steady_clock, or the device's global timer, in the
/// steps that the device takes. The two clocks have nothing to do with each other.
constexpr std::uint64_t clock_ns() {
  if (std::is_constant_evaluated()) return 0;
#ifdef __CUDA_ARCH__
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
#endif
}

/// Half of the distance from 1 to the next number of the type.
template <class T>
inline constexpr double unit_roundoff = 0.5 * std::numeric_limits<real_t<T>>::epsilon();

/// Factors that look random, uniform between -sqrt(3) and sqrt(3), so 1 in the mean square: a hash of the index (the
/// finalizer of SplitMix64, Steele et al. 2014). The unit roundoff times A D x with such a diagonal matrix D is about
/// what rounding x changes of A x.
constexpr double random_factor(std::int64_t i, int pattern) {
  auto hash = (static_cast<std::uint64_t>(i) * 8 + static_cast<std::uint64_t>(pattern) + 1) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return std::numbers::sqrt3 * (0x1p-52 * static_cast<double>((hash ^ (hash >> 31)) >> 11) - 1);
}

/// How many such D the effect of rounding is the mean of, once a solve is over: one alone may cancel, too.
inline constexpr int rounding_patterns = 4;

/// What a residual is compared with for its backward error: the least change of A and b, relative to their norms, for
/// which x is exact, is ||b - A x|| / (||A|| ||x|| + ||b||) (Rigal and Gaches 1967). Norms of matrices are Frobenius
/// norms.
constexpr double backward_error_scale(double matrix_norm, double solution_norm, double rhs_norm) {
  return matrix_norm * solution_norm + rhs_norm;
}

}  // namespace detail

/// What is kept of an iteration.
struct HistoryEntry {
  double residual2;  ///< squared norm of the recurrence's residual after it
  double seconds;    ///< from the start of the record to that
};

/// One record a solve, on the backend's side, written by passes alone. Norms are those of the scaled system.
struct Progress {
  Reason reason = Reason::running;
  Reason stop_requested = Reason::running;  ///< the only word the host writes; read between iterations, or their steps
  Reason own_wish = Reason::running;        ///< in its place where ranks solve together, until all have heard of it
  int iteration = 0;
  int iteration_limit = 0;
  double rhs2 = 0;                  ///< ||b||^2
  double initial2 = 0;              ///< ||b - A x0||^2
  double baseline2 = 0;             ///< what relative figures are relative to, squared
  double target2 = 0;               ///< squared norm to reach
  double relative = 0;              ///< norm to reach over the baseline
  double absolute2 = 0;             ///< squared norm that is small enough whatever the baseline is
  double matrix_norm = 0;           ///< ||A||_F where the baseline is that of the backward error
  double initial_solution2 = -1;    ///< ||x0||^2 there; below 0: not measured yet
  double residual2 = 0;             ///< squared norm of the recurrence's residual after `iteration` iterations
  double divergence2 = 0;           ///< squared norm that means divergence
  double best2 = 0;                 ///< least squared norm at the last time it fell by 1 %
  int best_iteration = 0;           ///< and when that was
  int stagnation = 0;               ///< iterations without such a fall that end the solve; 0: never
  std::uint64_t started_ns = 0;     ///< when the record was, by the backend's clock
  HistoryEntry* history = nullptr;  ///< iteration_limit + 1 entries, on the backend's side; null: none is kept

  /// The target follows from the baseline.
  constexpr void set_baseline2(double squared) {
    const double relative2 = relative * relative * squared;
    baseline2 = squared;
    target2 = relative2 > absolute2 ? relative2 : absolute2;
  }
  /// Books the squared residual norm after one more iteration and says whether that ends the solve.
  constexpr Reason note(double norm2) {
    ++iteration;
    return correct(norm2);
  }
  /// The same for an iteration that is counted already: at the start, or for a residual that was computed anew.
  constexpr Reason correct(double norm2) {
    residual2 = norm2;
    if (history) history[iteration] = {norm2, 1e-9 * static_cast<double>(detail::clock_ns() - started_ns)};
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
  // A residual is at the limit of accuracy up to eight times what rounding x is about to change of it, squared: on real
  // systems that could not be brought further it was 0.4 to 5 times as much.
  static constexpr double max_of_rounding2 = 64;

  int restarts = 0;      ///< from the true residual
  bool met = false;      ///< x, as the caller gets it, meets the target
  bool goes_on = false;  ///< the method starts anew from that residual
  bool keeps_guess = false;
  double rounding2 = 0;   ///< what rounding x is about to change of b - A x, squared; 0: nobody asked
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
    return by_rounding(why == Reason::converged || (broke_down && drifted) ? Reason::stagnated : why);
  }
  /// An x whose residual rounding may make larger than that of the guess is not handed back.
  constexpr void note_rounding(double change2, const Progress& progress) {
    rounding2 = change2;
    keeps_guess = keeps_guess || !(change2 < progress.initial2);
  }
  /// Whether a solve that ended so did at the limit of accuracy.
  constexpr Reason by_rounding(Reason why) const {
    const bool stood_still = why == Reason::stagnated || why == Reason::limit_of_accuracy ||
                             why == Reason::breakdown_rho || why == Reason::breakdown_omega ||
                             why == Reason::breakdown_basis;
    if (!stood_still) return why;
    if (!keeps_guess && is_of_rounding(residual2, rounding2)) return Reason::limit_of_accuracy;
    return why == Reason::limit_of_accuracy ? Reason::stagnated : why;
  }
  static constexpr bool is_of_rounding(double found2, double change2) { return found2 <= max_of_rounding2 * change2; }
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
