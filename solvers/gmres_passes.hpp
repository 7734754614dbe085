// The passes of restarted GMRES, beside the kernels of its basis. The decision to stop lives on the backend's side, so
// cycles run without the host.
#pragma once
#include "solvers/basis.hpp"
#include "solvers/progress.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

/// Before the loop: a cycle begins where the solve goes on at all. A pass over nothing.
template <class T>
struct GmresStart {
  using Sum = double;
  const Progress* progress;
  ArnoldiState<T>* state;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    *state = {};
    if (progress->reason == Reason::running) state->begins = Reason::running;
  }
};

/// Begins a cycle: u = r / ||r||. Moves 2 n values.
template <class T>
struct GmresBegin {
  using Sum = double;
  const double* rr;
  const T* r;
  T* u;
  Arnoldi<T> arnoldi;
  real_t<T> factor = 0;

  constexpr bool begin() { return factor = static_cast<real_t<T>>(1 / square_root(*rr)), true; }
  constexpr double entry(std::int64_t i) const { return u[i] = scaled(r[i], factor), 0.0; }
  constexpr void finish(double) const {
    arnoldi.rhs[0] = wide_t<T>(square_root(*rr));
    ArnoldiState<T> fresh;
    fresh.steps = Reason::running;
    fresh.start2 = *rr;
    fresh.best2 = arnoldi.progress->best2, fresh.best_iteration = arnoldi.progress->best_iteration;
    *arnoldi.state = fresh;
  }
};

/// After a loop that was stopped between the steps of a cycle: what they found is not lost. A pass over nothing.
template <class T>
struct GmresSettle {
  using Sum = double;
  ArnoldiState<T>* state;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    if (state->steps == Reason::running && state->columns > 0) state->ends = Reason::running;
    state->begins = state->steps = Reason::converged;
  }
};

/// FGMRES: vector *columns of Z = z times a power of two that brings its greatest entry near 1, where it is kept in
/// less than T. Moves 2 n values.
template <class T, class S>
struct KeepVector {
  using Sum = double;
  BasisView<S> kept;
  const ArnoldiState<T>* state;
  const double* most;  // max |z_i|; null: as it is
  const T* z;
  double* kept_scale;
  S* to = nullptr;
  double factor = 1;

  constexpr bool begin() { return to = kept.vector(state->columns), factor = most ? scale_of(*most) : 1, true; }
  constexpr double entry(std::int64_t i) const { return to[i] = to_stored<S>(scaled(wide(z[i]), factor)), 0.0; }
  constexpr void finish(double) const {
    for (std::int64_t i = kept.rows; i < kept.stride; ++i) to[i] = S{};
    kept_scale[state->columns] = factor;
  }
};

/// x += z. Moves 3 n values.
template <class T>
struct AddTo {
  using Sum = NoSum;
  const T* z;
  T* x;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return x[i] += z[i], NoSum{}; }
};

/// Whether a cycle gained nothing: then what follows asks for the effect of rounding. A pass over nothing.
template <class T>
struct GmresGain {
  using Sum = double;
  /// A rule of the method, not varied: the squared norm falls by a millionth at least.
  static constexpr double min_fall = 1 - 1e-6;
  const double* rr;
  ArnoldiState<T>* state;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    state->asks = *rr < min_fall * state->start2 ? Reason::converged : Reason::running;
  }
};

/// Ends a cycle: rr is the true residual and decides. A cycle without gain ends the solve where the steps ran out of
/// directions, or found an x so large that rounding leaves nothing of it, as singular matrices have them, and where the
/// residual is at the limit of accuracy. Else the next cycle may do better, from another x, until the window of
/// stagnation is over, which knows nothing of what a recurrence that left the truth behind had found. ss is that of
/// Krylov::perturb(). A reason that the loop ended with stays. A pass over nothing.
template <class T>
struct GmresEnd {
  using Sum = double;
  const double* rr;
  const wide_t<T>* ss;
  ArnoldiState<T>* state;
  int m;
  double unit2;  // the unit roundoff, squared
  Progress* progress;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    const Reason verdict = judge();
    if (progress->reason == Reason::running) progress->reason = verdict;
    state->ends = state->asks = Reason::converged;
    state->begins = progress->reason == Reason::running ? Reason::running : Reason::converged;
  }

 private:
  constexpr Reason judge() const {
    const bool drifted = Truth::drifted_from(progress->residual2, *rr);
    if (drifted) progress->best2 = state->best2, progress->best_iteration = state->best_iteration;
    const Reason by_truth = progress->correct(*rr);
    const bool goes_on = state->outcome == Reason::running || state->outcome == Reason::converged;
    if (!goes_on) return by_truth == Reason::converged ? by_truth : state->outcome;
    const bool gained = state->asks != Reason::running;
    if (gained || (by_truth != Reason::running && by_truth != Reason::diverged)) return by_truth;
    const double rounding2 = unit2 * real(*ss);
    if ((state->columns < m && !drifted) || !(rounding2 + unit2 * *rr < progress->initial2))
      return Reason::breakdown_basis;
    return Truth::is_of_rounding(*rr, rounding2) ? Reason::limit_of_accuracy : by_truth;
  }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct GmresPasses {
  using Single = std::conditional_t<is_complex<T>, Complex<float>, float>;
  static constexpr auto list = passes<Where, GmresStart<T>, GmresBegin<T>, GmresSettle<T>, KeepVector<T, T>,
                                      KeepVector<T, Single>, AddTo<T>, GmresGain<T>, GmresEnd<T>>;
};

}  // namespace krill::detail
