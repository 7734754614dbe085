// Arnoldi's process on the backend's side: what is small and dense about it. Kernels that read the basis (basis.hpp) do
// the rest, and end in what stands here.
#pragma once
#include "solvers/krylov_passes.hpp"
#include "solvers/options.hpp"
#include "solvers/progress.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

/// Threads that work together: the host's alone, or a block. Each has a lane; sync() waits for all of them, sum() is
/// the same in all of them.
struct SoleThread {
  constexpr int lane() const { return 0; }
  constexpr int lanes() const { return 1; }
  constexpr void sync() const {}
  template <class Sum>
  constexpr Sum sum(const Sum& mine) const {
    return mine;
  }
};

/// Dots of the two vectors that a step works on.
template <class T>
struct PairDots {
  double uu = 0, ww = 0;
  wide_t<T> uw{};
  constexpr PairDots& operator+=(const PairDots& other) {
    return uu += other.uu, ww += other.ww, uw += other.uw, *this;
  }
};

/// Factors of a step: q = (u - V a) q_factor, and the new u = (w - V c - along_q q) scale.
template <class T>
struct StepScalars {
  double q_factor = 1, scale = 1;
  wide_t<T> along_q{};
};

/// Where a cycle of GMRES is. Of the reasons, those that are running let the kernels of their part run: a body of the
/// loop holds all parts, and what is not due is skipped.
template <class T>
struct ArnoldiState {
  Reason begins = Reason::converged;  ///< a cycle, from the residual
  Reason steps = Reason::converged;   ///< the cycle
  Reason ends = Reason::converged;    ///< the cycle, with the update of x
  Reason asks = Reason::converged;    ///< what rounding does, where the cycle gained nothing
  Reason outcome = Reason::running;   ///< what the solve ends with, once x is up to date
  int columns = 0;                    ///< steps taken, and vectors in the basis
  double start2 = 0;                  ///< ||r||^2 when the cycle began
  double best2 = 0;                   ///< and what the record then had of the least one
  int best_iteration = 0;
  double unscale = 1;  ///< u was divided by it: a power of two
  StepScalars<T> step;
};

/// The small problem of a cycle of at most m steps. Step j has u, which is q_j up to its length (and, with one_reduce,
/// up to what the first Gram-Schmidt left along the basis), and w = A M u:
///
///   A M U = V H,  U = V B  with V = [q_0 q_1 ...], H upper Hessenberg and B upper triangular,
///
/// so min ||r - A M U y|| is that of H, and x grows by M V (B y). B has the lengths of u on its diagonal and, with
/// one_reduce, the parts along the basis above it. No step uses that M is linear: FGMRES keeps M u instead of B.
template <class T>
struct Arnoldi {
  using W = wide_t<T>;
  ArnoldiState<T>* state = nullptr;  ///< null: nothing follows a kernel
  Progress* progress = nullptr;
  int m = 0;
  Orthogonalization method = Orthogonalization::one_reduce;
  bool flexible = false, second_sweep = false;
  double max_fall2 = 0;                          ///< of ||r||^2 in a cycle, which then ends: what the bases hold
  W *s = nullptr, *z = nullptr;                  ///< V^H u, V^H w; m + 1 entries
  W* column = nullptr;                           ///< the last one of H, m + 1 entries
  W *r = nullptr, *g = nullptr, *rhs = nullptr;  ///< H and ||r|| e_0 after rotations; rhs: before their own
  W* b = nullptr;                                ///< m x m: B above its diagonal; mgs: V^H V below it
  W* sine = nullptr;                             ///< m entries, as cosine
  double *cosine = nullptr, *length = nullptr;   ///< length: the diagonal of B
  double* kept_scale = nullptr;                  ///< FGMRES: powers of two by which M u is kept

  /// What is subtracted from w is what w has along the basis up to rounding, so a part of u this small of its square is
  /// rounding: the basis can grow no more. Loses a digit of orthogonality at most. Reasoned, not varied.
  static constexpr double min_kept2 = 1e-2;
  static constexpr double rounding2 = 1e-30;  ///< below: w lies in the span of the basis

  constexpr W* rotated(int j) const { return r + std::int64_t(j) * m; }
  constexpr W* triangle(int j) const { return b + std::int64_t(j) * m; }

  /// After V^H [u w] is in s and z. Finds the step's factors, and corrects the column before by what u had along V.
  template <class Team>
  constexpr void after_dots(const Team& team, const PairDots<T>& pair) const {
    const int j = state->columns;
    if (second_sweep) return after_second_dots(team, j, pair);
    const bool delayed = method == Orthogonalization::one_reduce;
    Overlap mine;
    for (int i = team.lane(); i < j; i += team.lanes())
      mine += Overlap{squared(s[i]), squared(z[i]), conj(s[i]) * z[i]};
    const Overlap all = team.sum(mine);
    const double left2 = delayed ? pair.uu - all.ss : pair.uu;
    const bool kept = !delayed || left2 > min_kept2 * pair.uu;
    const double own = kept ? square_root(left2) : 0;
    if (delayed && j > 0) correct(team, j, own);
    if (!kept) {
      if (team.lane() == 0) state->steps = Reason::converged, state->ends = Reason::running;
      return;
    }
    const W along = scaled(delayed ? pair.uw - all.sz : pair.uw, 1 / own);  // q_j^H w
    for (int i = team.lane(); i < j; i += team.lanes()) {
      column[i] = z[i];
      if (delayed && !flexible) triangle(j)[i] = s[i];
      if (method == Orthogonalization::mgs) triangle(i)[j] = scaled(conj(s[i]), 1 / own);
    }
    if (team.lane() == 0) column[j] = along, length[j] = own, state->step.q_factor = 1 / own;
    team.sync();
    if (method == Orthogonalization::mgs) one_after_the_other(team, j);
    const double part2 = method == Orthogonalization::mgs ? column_sum2(team, j) : all.zz + squared(along);
    if (team.lane() == 0) {
      state->step.along_q = column[j];
      scale_next(pair.ww, part2, method == Orthogonalization::cgs2);
    }
  }

  /// After w lost its parts along V, the new u and its squared norm are known. Records the step.
  template <class Team>
  constexpr void after_update(const Team& team, double norm2) const {
    if (method == Orthogonalization::cgs2 && !second_sweep) return;
    const int j = state->columns;
    const double column2 = column_sum2(team, j);
    if (team.lane() != 0) return;
    const double below = square_root(norm2) * state->unscale;
    const double left2 = rotate(j, below);
    state->outcome = progress->note(left2);
    state->columns = j + 1;
    if (left2 <= max_fall2 * state->start2 || state->outcome != Reason::running ||
        progress->stop_requested != Reason::running || j + 1 == m || !(below * below > rounding2 * column2))
      state->steps = Reason::converged, state->ends = Reason::running;
  }

  /// What x grows by is -V z, for GMRES before M, for FGMRES of the kept M u. Where a pivot is 0, so is its unknown.
  template <class Team>
  constexpr void solve(const Team& team) const {
    const int k = state->columns;
    for (int i = team.lane(); i < k; i += team.lanes()) z[i] = g[i];
    for (int j = k - 1; j >= 0; --j) {
      team.sync();
      const W* c = rotated(j);
      const W y = c[j] == W(0) ? W(0) : z[j] / c[j];
      if (team.lane() == 0) s[j] = y;
      for (int i = team.lane(); i < j; i += team.lanes()) z[i] -= c[i] * y;
    }
    team.sync();
    for (int i = team.lane(); i < k; i += team.lanes()) {
      W sum = scaled(s[i], flexible ? 1 / kept_scale[i] : length[i]);
      if (!flexible && method == Orthogonalization::one_reduce)
        for (int j = i + 1; j < k; ++j) sum += triangle(j)[i] * s[j];
      z[i] = -sum;
    }
  }

 private:
  struct Overlap {
    double ss = 0, zz = 0;
    W sz{};
    constexpr Overlap& operator+=(const Overlap& other) {
      return ss += other.ss, zz += other.zz, sz += other.sz, *this;
    }
  };

  /// The second sweep of cgs2: z has what the first one left in w.
  template <class Team>
  constexpr void after_second_dots(const Team& team, int j, const PairDots<T>& pair) const {
    double mine = 0;
    for (int i = team.lane(); i <= j; i += team.lanes()) mine += squared(z[i]), column[i] += z[i];
    const double part2 = team.sum(mine);
    if (team.lane() == 0) scale_next(pair.ww, part2, false);
  }

  template <class Team>
  constexpr double column_sum2(const Team& team, int j) const {
    double mine = 0;
    for (int i = team.lane(); i <= j; i += team.lanes()) mine += squared(column[i]);
    return team.sum(mine);
  }

  /// By modified Gram-Schmidt h_i is what w has along q_i without its parts along the vectors before: (I + L) h = z,
  /// with L = V^H V below its diagonal.
  template <class Team>
  constexpr void one_after_the_other(const Team& team, int j) const {
    for (int i = 0; i < j; ++i) {
      const W h = column[i];
      for (int k = i + 1 + team.lane(); k <= j; k += team.lanes()) column[k] -= triangle(i)[k] * h;
      team.sync();
    }
  }

  /// The column before was closed with u as it then was: u = V s + own q_j.
  template <class Team>
  constexpr void correct(const Team& team, int j, double own) const {
    const double unscale = state->unscale;
    for (int i = team.lane(); i < j; i += team.lanes()) column[i] += scaled(s[i], unscale);
    team.sync();
    if (team.lane() == 0) rotate(j - 1, own * unscale);
    team.sync();
  }

  /// The next u comes out near length 1, so that no product with it overflows where one with a unit vector does not.
  constexpr void scale_next(double ww, double part2, bool first_sweep) const {
    const double left2 = ww - part2, least2 = rounding2 * ww;
    state->step.scale = first_sweep ? 1 : scale_of(square_root(left2 > least2 ? left2 : least2));
    state->unscale = 1 / state->step.scale;
  }

  /// Applies to the column, whose entry below the diagonal is `below`, the rotations so far and a new one that makes
  /// that entry zero. Returns ||r||^2 of the least-squares problem. The same column may be rotated anew.
  constexpr double rotate(int j, double below) const {
    constexpr int ahead = 8;  // entries in flight
    W* c = rotated(j);
    W upper = column[0];
    for (int first = 0; first < j; first += ahead) {
      W lower[ahead] = {}, sines[ahead] = {};
      double cosines[ahead] = {};
      for (int k = 0; k < ahead; ++k)
        if (first + k < j) lower[k] = column[first + k + 1], sines[k] = sine[first + k], cosines[k] = cosine[first + k];
      for (int k = 0; k < ahead; ++k) {
        if (first + k >= j) continue;
        c[first + k] = scaled(upper, cosines[k]) + sines[k] * lower[k];
        upper = scaled(lower[k], cosines[k]) - conj(sines[k]) * upper;
      }
    }
    const double above = square_root(squared(upper)), whole = square_root(squared(upper) + below * below);
    const W direction = above == 0 ? W(1) : scaled(upper, 1 / above);
    cosine[j] = whole == 0 ? 1 : above / whole;
    sine[j] = whole == 0 ? W(0) : scaled(direction, below / whole);
    c[j] = scaled(direction, whole);
    g[j] = scaled(rhs[j], cosine[j]);
    rhs[j + 1] = -(conj(sine[j]) * rhs[j]);
    return squared(rhs[j + 1]);
  }
};

}  // namespace krill::detail
