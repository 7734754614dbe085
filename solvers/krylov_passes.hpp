// The passes that every solver shares: scaling the system, the residual, the record of a solve.
#pragma once
#include <bit>

#include "solvers/options.hpp"
#include "solvers/progress.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

/// The power of two that brings a positive finite number into [1, 2), as a factor that is itself finite; 1 for the
/// rest.
constexpr double scale_of(double most) {
  if (!(most > 0) || most - most != 0) return 1;
  const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(most) >> 52) - 1023;
  const int wanted = -exponent > 1022 ? 1022 : -exponent < -1021 ? -1021 : -exponent;
  return std::bit_cast<double>(static_cast<std::uint64_t>(wanted + 1023) << 52);
}

/// The system in the solver's own arrays, scaled so that `most`, the largest entry of b, is near 1: squared norms of
/// 1e-170 and 1e160 neither vanish nor overflow, and powers of two change no bit of the mantissa. b = 0 starts from x =
/// 0, which solves it. rhs2 = ||b||^2 scaled. Moves 4 n values.
template <class T>
struct ImportSystem {
  using Sum = double;
  const double* most;
  const T *b, *x;
  T *own_b, *own_x;
  double* rhs2;
  double scale = 1;

  constexpr bool begin() { return scale = scale_of(*most), true; }
  constexpr double entry(std::int64_t i) const {
    own_b[i] = scaled_wide(b[i], scale);
    own_x[i] = *most == 0 ? T(0) : scaled_wide(x[i], scale);
    return squared(own_b[i]);
  }
  constexpr void finish(double sum) const { *rhs2 = sum; }

  /// In double, so that a factor beyond the range of float still does its work.
  static constexpr T scaled_wide(T a, double factor) { return T(scaled(wide(a), factor)); }
};

/// The same for the guess 0: the residual is b. Moves 4 n values.
template <class T>
struct ImportResidual {
  using Sum = double;
  const double* most;
  const T* b;
  T *own_b, *own_r, *own_x;
  double *rhs2, *rr;
  double scale = 1;

  constexpr bool begin() { return scale = scale_of(*most), true; }
  constexpr double entry(std::int64_t i) const {
    const T own = ImportSystem<T>::scaled_wide(b[i], scale);
    own_b[i] = own_r[i] = own;
    own_x[i] = T(0);
    return squared(own);
  }
  constexpr void finish(double sum) const { *rhs2 = *rr = sum; }
};

/// Copies the solution to the caller's array once the solve is over, unless the initial guess was better. Moves 2 n
/// values.
template <class T>
struct ExportSolution {
  using Sum = NoSum;
  const double* most;
  const Truth* truth;
  const T* own_x;
  T* x;
  double unscale = 1;

  constexpr bool begin() {
    unscale = 1 / scale_of(*most);
    return !truth->goes_on && !truth->keeps_guess;
  }
  constexpr NoSum entry(std::int64_t i) const {
    return x[i] = ImportSystem<T>::scaled_wide(own_x[i], unscale), NoSum{};
  }
};

/// The solution in hand becomes what the caller's array will hold of it: what is judged is what is handed back. In the
/// range of T no bit changes. Counts the entries that do. Moves 2 n values where the system was scaled, else none.
template <class T>
struct RoundAsExported {
  using Sum = std::int64_t;
  const double* most;
  T* own_x;
  Truth* truth;
  double scale = 1;

  constexpr bool begin() { return scale = scale_of(*most), scale != 1; }
  constexpr std::int64_t entry(std::int64_t i) const {
    const T before = own_x[i], exported = ImportSystem<T>::scaled_wide(before, 1 / scale),
            after = ImportSystem<T>::scaled_wide(exported, scale);
    own_x[i] = after;
    return !(before == after) && before == before ? 1 : 0;
  }
  constexpr void finish(std::int64_t lost) const { truth->lost = lost; }
};

/// r = b - r (r holds A x on entry), rr = r'r. Moves 3 n values.
template <class T>
struct SubtractFrom {
  using Sum = double;
  const T* b;
  T* r;
  double* rr;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const T difference = b[i] - r[i];
    r[i] = difference;
    return squared(difference);
  }
  constexpr void finish(double sum) const { *rr = sum; }
};

/// Fills in the record of a solve that begins. A pass over no entries: finish() does it all.
struct StartRecord {
  using Sum = double;
  const double *most, *rhs2, *rr;
  Progress* progress;
  HistoryEntry* history;
  Truth* truth;
  StopOptions stop;
  double matrix_norm;  // where the baseline is the backward error's
  int iteration_limit;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    Progress fresh;
    fresh.started_ns = clock_ns();
    fresh.history = history;
    fresh.iteration_limit = iteration_limit;
    fresh.rhs2 = *rhs2;
    fresh.initial2 = *rr;
    fresh.relative = stop.relative;
    const double absolute = stop.absolute * scale_of(*most);
    fresh.absolute2 = absolute * absolute;
    fresh.matrix_norm = matrix_norm;
    fresh.set_baseline2(stop.baseline == Baseline::initial_residual ? *rr : *rhs2);
    const double start2 = *rr > fresh.baseline2 ? *rr : fresh.baseline2;
    fresh.divergence2 = stop.divergence * stop.divergence * start2;
    fresh.stagnation = stop.stagnation;
    fresh.best2 = *rr;
    fresh.reason = fresh.correct(*rr);
    // Beside an initial residual that is more than 1e100 times larger, squared norms near the target would underflow.
    const bool rhs_vanished = *most != 0 && *rhs2 < 1e-200;
    if (stop.baseline == Baseline::rhs && rhs_vanished && absolute == 0) fresh.reason = Reason::not_representable;
    *progress = fresh;
    *truth = {};
  }
};

/// Where the baseline is that of the backward error: that of an x of this squared norm. One that overflows changes
/// nothing.
constexpr void measure(Progress& progress, double solution2) {
  const double scale = backward_error_scale(progress.matrix_norm, square_root(solution2), square_root(progress.rhs2));
  if (scale * scale - scale * scale == 0) progress.set_baseline2(scale * scale);
}

/// The baseline of the backward error follows x, and the residual at hand is judged anew. Moves n values.
template <class T>
struct MeasureSolution {
  using Sum = double;
  const T* x;
  Progress* progress;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const { return squared(x[i]); }
  constexpr void finish(double xx) const {
    if (progress->initial_solution2 < 0) progress->initial_solution2 = xx;
    measure(*progress, xx);
    if (progress->reason == Reason::running) progress->reason = progress->verdict();
  }
};

/// s = D x with random_factor() on the diagonal of D: A s does not cancel where A x does. Moves 2 n values.
template <class T>
struct Perturb {
  using Sum = NoSum;
  const T* x;
  T* s;
  int pattern;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    return s[i] = scaled(x[i], static_cast<real_t<T>>(random_factor(i, pattern))), NoSum{};
  }
};

/// Decides whether a solve goes on from the true residual, and sets its record back if so. A pass over no entries.
struct DecideByTruth {
  using Sum = double;
  const double* rr;
  Progress* progress;
  Truth* truth;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    truth->decide(*rr, *progress);
    if (truth->goes_on) progress->reason = progress->correct(*rr);
  }
};

/// rz = Re r'z. Moves 2 n values.
template <class T>
struct RealDot {
  using Sum = double;
  const T *r, *z;
  double* rz;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const { return real(conj(wide(r[i])) * wide(z[i])); }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// z = d .* r, rz = Re r'z. Moves 3 n values.
template <class T>
struct ScaleDot {
  using Sum = double;
  const T *d, *r;
  T* z;
  double* rz;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const T r_i = r[i], z_i = d[i] * r_i;
    z[i] = z_i;
    return real(conj(wide(r_i)) * wide(z_i));
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct KrylovPasses {
  static constexpr auto list =
      passes<Where, StartRecord, DecideByTruth, ImportSystem<T>, ImportResidual<T>, ExportSolution<T>,
             RoundAsExported<T>, SubtractFrom<T>, MeasureSolution<T>, Perturb<T>, ScaleDot<T>, RealDot<T>>;
};

}  // namespace krill::detail
