// The passes of restarted GMRES. The Hessenberg matrix, its rotations and the decision to stop live on the backend's
// side, so a whole cycle runs without the host.
#pragma once
#include "solvers/progress.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

inline constexpr int gmres_group = 8;  // basis vectors that one pass works on: their dots stay in registers

/// Whether the steps of the present cycle go on.
struct Cycle {
  Reason reason = Reason::converged;  ///< anything but running: the remaining steps of this cycle are skipped
  Reason outcome = Reason::running;   ///< what the solve ends with, once x is up to date
  int columns = 0;                    ///< steps taken
  double start2 = 0;                  ///< ||r||^2 when the cycle began
  double best2 = 0;                   ///< and what the record then had of the least one
  int best_iteration = 0;
};

/// The small dense problem of a cycle of at most m steps; column j of h begins at h + j (m + 1).
template <class T>
struct HessenbergView {
  using W = wide_t<T>;
  int m;
  W *h, *g, *sine, *y;  // (m + 1) m, m + 1, m, m entries
  double* cosine;       // m entries

  constexpr W* column(int j) const { return h + std::int64_t(j) * (m + 1); }

  /// Applies to column j, whose last entry is `below`, the rotations so far and a new one that makes `below` zero.
  /// Returns ||r||^2 of the least-squares problem.
  constexpr double rotate(int j, double below) const {
    W* c = column(j);
    for (int k = 0; k < j; ++k) {
      const W upper = c[k], lower = c[k + 1];
      c[k] = scaled(upper, cosine[k]) + sine[k] * lower;
      c[k + 1] = scaled(lower, cosine[k]) - conj(sine[k]) * upper;
    }
    const double above = detail::square_root(squared(c[j])),
                 length = detail::square_root(squared(c[j]) + below * below);
    const W direction = above == 0 ? W(1) : scaled(c[j], 1 / above);
    cosine[j] = length == 0 ? 1 : above / length;
    sine[j] = length == 0 ? W(0) : scaled(direction, below / length);
    c[j] = scaled(direction, length);
    g[j + 1] = -(conj(sine[j]) * g[j]);
    g[j] = scaled(g[j], cosine[j]);
    return squared(g[j + 1]);
  }
};

/// Begins a cycle: v = r / ||r||. Moves 2 n values.
template <class T>
struct GmresBegin {
  using Sum = double;
  const double* rr;
  const T* r;
  T* v;
  HessenbergView<T> hessenberg;
  Cycle* cycle;
  const Progress* progress;
  real_t<T> factor = 0;

  constexpr bool begin() { return factor = static_cast<real_t<T>>(1 / detail::square_root(*rr)), true; }
  constexpr double entry(std::int64_t i) const { return v[i] = scaled(r[i], factor), 0.0; }
  constexpr void finish(double) const {
    hessenberg.g[0] = wide_t<T>(detail::square_root(*rr));
    *cycle = {Reason::running, Reason::running, 0, *rr, progress->best2, progress->best_iteration};
  }
};

/// Up to gmres_group basis vectors.
template <class T>
struct BasisGroup {
  const T* v[gmres_group] = {};
  int count = 0;
};

/// Dots with a group of vectors, as a pass's Sum.
template <class T>
struct GroupDots {
  wide_t<T> dot[gmres_group] = {};
  constexpr GroupDots& operator+=(const GroupDots& other) {
    for (int k = 0; k < gmres_group; ++k) dot[k] += other.dot[k];
    return *this;
  }
};

/// w -= the sum of the vectors of the group `minus` times the coefficients in `dots`. Returns the new w.
template <class T>
struct Subtract {
  BasisGroup<T> minus;
  const wide_t<T>* dots;
  T* w;
  T h[gmres_group] = {};

  constexpr void begin() {
    for (int k = 0; k < gmres_group; ++k)  // a fixed count: registers, not local memory
      if (k < minus.count) h[k] = T(dots[k]);
  }
  constexpr T entry(std::int64_t i) const {
    T value = w[i];
    if (minus.count == 0) return value;
    for (int k = 0; k < gmres_group; ++k)
      if (k < minus.count) value -= h[k] * minus.v[k][i];
    return w[i] = value;
  }
};

/// One step of block Gram-Schmidt: subtracts from w its parts along the former group, and finds its dots with the next
/// group, which are added to the column of the Hessenberg matrix. Moves (groups + 2) n values.
template <class T>
struct Orthogonalize {
  using Sum = GroupDots<T>;
  Subtract<T> former;
  BasisGroup<T> next;
  wide_t<T>* dots;    // read by `former`, written at the end
  wide_t<T>* column;  // where the parts along `next` belong
  bool first_sweep;   // the column holds nothing yet

  constexpr bool begin() { return former.begin(), true; }
  constexpr Sum entry(std::int64_t i) const {
    const wide_t<T> value = wide(former.entry(i));
    Sum sum;
    for (int k = 0; k < gmres_group; ++k)
      if (k < next.count) sum.dot[k] = conj(wide(next.v[k][i])) * value;
    return sum;
  }
  constexpr void finish(const Sum& sum) const {
    for (int k = 0; k < gmres_group; ++k) {
      if (k >= next.count) continue;
      dots[k] = sum.dot[k];
      column[k] = first_sweep ? sum.dot[k] : column[k] + sum.dot[k];
    }
  }
};

/// Subtracts from w its parts along the last group, finds the norm of w, and records step j. Moves (group + 2) n
/// values.
template <class T>
struct CloseColumn {
  using Sum = double;
  Subtract<T> former;
  HessenbergView<T> hessenberg;
  int j;
  double* length;
  Cycle* cycle;
  Progress* progress;

  constexpr bool begin() { return former.begin(), true; }
  constexpr double entry(std::int64_t i) const { return squared(former.entry(i)); }
  constexpr void finish(double sum) const {
    *length = detail::square_root(sum);
    double column2 = 0;
    for (int k = 0; k <= j; ++k) column2 += squared(hessenberg.column(j)[k]);
    cycle->outcome = progress->note(hessenberg.rotate(j, *length));
    cycle->columns = j + 1;
    constexpr double rounding2 = 1e-30;  // below: w lies in the span of the basis, which can grow no more
    if (cycle->outcome != Reason::running || progress->stop_requested != Reason::running || j + 1 == hessenberg.m ||
        !(sum > rounding2 * column2))
      cycle->reason = Reason::converged;
  }
};

/// v /= length. Moves 2 n values.
template <class T>
struct Normalize {
  using Sum = NoSum;
  const double* length;
  T* v;
  real_t<T> factor = 0;

  constexpr bool begin() { return factor = static_cast<real_t<T>>(1 / *length), true; }
  constexpr NoSum entry(std::int64_t i) const { return v[i] = scaled(v[i], factor), NoSum{}; }
};

/// y = R^-1 g for the columns of the cycle; where a pivot is 0, so is y. A pass over no entries.
template <class T>
struct SolveTriangle {
  using Sum = double;
  HessenbergView<T> hessenberg;
  const Cycle* cycle;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    using W = wide_t<T>;
    for (int k = cycle->columns - 1; k >= 0; --k) {
      W sum = hessenberg.g[k];
      for (int j = k + 1; j < cycle->columns; ++j) sum -= hessenberg.column(j)[k] * hessenberg.y[j];
      const W pivot = hessenberg.column(k)[k];
      hessenberg.y[k] = pivot == W(0) ? W(0) : sum / pivot;
    }
  }
};

/// u (+)= the group's vectors times y. Moves (group + 2) n values, none where the cycle was shorter.
template <class T>
struct Combine {
  using Sum = NoSum;
  BasisGroup<T> group;
  int first;  // the number of the group's first vector; 0 overwrites u
  const wide_t<T>* y;
  const Cycle* cycle;
  T* u;
  T factor[gmres_group] = {};

  constexpr bool begin() {
    if (cycle->columns - first < group.count) group.count = cycle->columns - first;
    for (int k = 0; k < gmres_group; ++k)
      if (k < group.count) factor[k] = T(y[first + k]);
    return group.count > 0;
  }
  constexpr NoSum entry(std::int64_t i) const {
    T sum = first == 0 ? T(0) : u[i];
    for (int k = 0; k < gmres_group; ++k)
      if (k < group.count) sum += factor[k] * group.v[k][i];
    return u[i] = sum, NoSum{};
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

/// Whether a cycle gained nothing: then its reason is running again, so that what follows asks for the effect of
/// rounding. A pass over nothing.
struct GmresGain {
  using Sum = double;
  /// A rule of the method, not varied: the squared norm falls by a millionth at least.
  static constexpr double min_fall = 1 - 1e-6;
  const double* rr;
  Cycle* cycle;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    cycle->reason = *rr < min_fall * cycle->start2 ? Reason::converged : Reason::running;
  }
};

/// Ends a cycle: rr is the true residual and decides. A cycle without gain ends the solve where the steps ran out of
/// directions, or found an x so large that rounding leaves nothing of it, as singular matrices have them, and where the
/// residual is at the limit of accuracy. Else the next cycle may do better, from another x, until the window of
/// stagnation is over, which knows nothing of what a recurrence that left the truth behind had found. ss is that of
/// Krylov::perturb(). A pass over nothing.
template <class T>
struct GmresEnd {
  using Sum = double;
  const double* rr;
  const wide_t<T>* ss;
  Cycle* cycle;
  int m;
  double unit2;  // the unit roundoff, squared
  Progress* progress;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t) const { return 0; }
  constexpr void finish(double) const {
    const bool drifted = Truth::drifted_from(progress->residual2, *rr);
    if (drifted) progress->best2 = cycle->best2, progress->best_iteration = cycle->best_iteration;
    const Reason by_truth = progress->correct(*rr);
    const bool goes_on = cycle->outcome == Reason::running || cycle->outcome == Reason::converged;
    const bool gained = cycle->reason != Reason::running;
    cycle->reason = Reason::converged;
    progress->reason = by_truth;
    if (!goes_on && by_truth != Reason::converged) progress->reason = cycle->outcome;
    if (!goes_on || gained || (by_truth != Reason::running && by_truth != Reason::diverged)) return;
    const double rounding2 = unit2 * real(*ss);
    if ((cycle->columns < m && !drifted) || !(rounding2 + unit2 * *rr < progress->initial2))
      progress->reason = Reason::breakdown_basis;
    else if (Truth::is_of_rounding(*rr, rounding2))
      progress->reason = Reason::limit_of_accuracy;
  }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct GmresPasses {
  static constexpr auto list = passes<Where, GmresBegin<T>, Orthogonalize<T>, CloseColumn<T>, Normalize<T>,
                                      SolveTriangle<T>, Combine<T>, AddTo<T>, GmresGain, GmresEnd<T>>;
};

}  // namespace krill::detail
