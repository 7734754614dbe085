// The steps by which a thread solves a system of a batch, the same on both backends: rows from the first to the last,
// which leaves an upper triangle, then back.
#pragma once
#include <cmath>
#include <limits>

#include "sparse/banded/banded_plan.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pivot_size.hpp"

namespace krill::detail {

/// Where a system is eliminated from: its first row alone, or both ends, as LINPACK does in PTSL, to 2 half unknowns in
/// the middle. That is no operation more, and two threads can do it.
struct BandEnds {
  std::int32_t rows = 0;
  int half = 1, number = 1;

  /// The first of the unknowns in the middle.
  constexpr std::int32_t middle() const { return rows / 2 - half; }
  /// Unknowns that are eliminated from an end.
  constexpr std::int32_t count(int end) const {
    return number == 1 ? rows : end == 0 ? middle() : rows - middle() - 2 * half;
  }
};

/// What a kernel gets.
template <class T>
struct BandedSolve {
  BandedView<const T> a;
  bool conjugated;     // its entries are to be taken so
  BandLayout vectors;  // of b and x
  const T* b;
  T* x;
  BandLayout compact;  // of the work
  T* above;            // of a triangle's rows: the k-th entry right of the diagonal lies in part k - 1
  T* rhs;              // of them, or null: x keeps it
  std::int32_t* zero_rows;
  BandEnds ends;

  constexpr std::int32_t rows() const { return a.layout.rows; }
};

/// A row of a matrix, its entries from left to right, and of its right-hand side.
template <class T, int diagonals>
struct BandRow {
  T entry[diagonals] = {};
  T rhs{};
};

/// One system of a batch.
template <class T>
struct BandedSystem {
  const T* band[5];
  const T* b;
  T* x;
  std::int64_t stride, rhs_stride;
  std::int32_t rows;
  bool conjugated = false;

  constexpr BandedSystem() = default;
  constexpr BandedSystem(const BandedSolve<T>& s, std::int64_t j)
      : band{},
        b(s.b + s.vectors.at(0, j)),
        x(s.x + s.vectors.at(0, j)),
        stride(s.a.layout.row_stride),
        rhs_stride(s.vectors.row_stride),
        rows(s.rows()),
        conjugated(s.conjugated) {
    const T* const bands[5] = {s.a.ds, s.a.dl, s.a.d, s.a.du, s.a.dw};
    const std::int64_t first = s.a.layout.at(0, j);
    for (int k = 0; k < 5; ++k) band[k] = bands[k] ? bands[k] + first : nullptr;
  }
  /// Row i: zeros outside of the matrix, whatever lies there.
  template <int diagonals>
  constexpr BandRow<T, diagonals> row(std::int32_t i) const {
    constexpr int half = diagonals / 2;
    BandRow<T, diagonals> r;
    if (i >= rows) return r;
    for (int k = -half; k <= half; ++k)
      if (i + k >= 0 && i + k < rows) r.entry[k + half] = conj_if(conjugated, band[k + 2][i * stride]);
    r.rhs = b[i * rhs_stride];
    return r;
  }
  /// With its rows and columns in reverse order.
  constexpr BandedSystem reversed() const {
    BandedSystem r = *this;
    for (int k = 0; k < 5; ++k) r.band[k] = band[4 - k] ? band[4 - k] + (rows - 1) * stride : nullptr;
    r.b += (rows - 1) * rhs_stride, r.x += (rows - 1) * rhs_stride;
    r.stride = -stride, r.rhs_stride = -rhs_stride;
    return r;
  }
};

/// An equation: entries from the present column on, and its right-hand side.
template <class T, int width>
struct Equation {
  T entry[width] = {};
  T rhs{};
};

/// |a|^2.
template <class T>
constexpr real_t<T> square(T a) {
  if constexpr (is_complex<T>)
    return a.re * a.re + a.im * a.im;
  else
    return a * a;
}
template <class T>
constexpr T divided(T a, real_t<T> by) {
  if constexpr (is_complex<T>)
    return {a.re / by, a.im / by};
  else
    return a / by;
}
template <class T>
constexpr real_t<T> modulus(T a) {
  if constexpr (is_complex<T>)
    return std::sqrt(square(a));
  else
    return a < T(0) ? -a : a;
}
/// a / |a|, 1 where that is 0.
template <class T>
constexpr T direction(const T& a, const real_t<T>& modulus) {
  if constexpr (is_complex<T>)
    return modulus == real_t<T>(0) ? T(1) : divided(a, modulus);
  else
    return a < T(0) ? T(-1) : T(1);
}
template <class R>
constexpr R inverse_root(R a) {
#ifdef __CUDA_ARCH__
  return rsqrt(a);
#else
  return R(1) / std::sqrt(a);
#endif
}

// Decisions are made by these, which the host has for several systems at a time, too (lanes.hpp): each then decides for
// itself.
constexpr bool any(bool chosen) { return chosen; }
template <class Mask>
constexpr bool any(const Mask& chosen) {
  auto found = chosen[0];
  for (int lane = 1; lane < static_cast<int>(sizeof chosen / sizeof found); ++lane) found |= chosen[lane];
  return found != 0;
}
template <class V>
constexpr V where(bool chosen, const V& yes, const V& no) {
  return chosen ? yes : no;
}
template <class T>
constexpr bool is_zero(const T& a) {
  return a == T(0);
}
/// Whether b is the better pivot.
template <class T>
constexpr bool precedes(const T& a, const T& b) {
  return pivot_order(a) < pivot_order(b);
}
/// Whether a sum of squares has lost nothing to underflow or overflow.
template <class R>
constexpr bool in_range_of_squares(const R& sum) {
  return sum > std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon() && sum < std::numeric_limits<R>::max();
}

/// Reflects the equations from e[j] on (Householder) so that the first of them has all of column j. Scaled by the
/// greatest of them where squares would vanish or overflow.
template <int j, class T, int width, int equations, class Zeros>
constexpr void reflect_out(Equation<T, width> (&e)[equations], const Zeros& zeros) {
  using R = decltype(square(T()));
  const auto has = [&](int r) { return r == j || !zeros.lacks_column(r); };
  T unit[equations];
  R sum{}, below{};
  const auto add_up = [&] {
    below = R(0);
    for (int r = j + 1; r < equations; ++r)
      if (has(r)) below = below + square(unit[r]);
    sum = square(unit[j]) + below;
  };
  for (int r = j; r < equations; ++r) unit[r] = e[r].entry[j];
  add_up();
  if (const auto fits = in_range_of_squares(sum); any(!fits)) {
    R size{};
    for (int r = j; r < equations; ++r)
      if (has(r)) size = where(precedes(size, pivot_size(unit[r])), pivot_size(unit[r]), size);
    size = where(fits | is_zero(size), R(1), size);
    for (int r = j; r < equations; ++r) unit[r] = divided(unit[r], size);
    add_up();
  }
  const auto nothing = is_zero(below);
  if (!any(!nothing)) return;
  const R inverse = inverse_root(sum);
  for (int r = j; r < equations; ++r) unit[r] = scaled(unit[r], inverse);
  // With a one added to its first entry, that is the vector across the mirror.
  const R first = modulus(unit[j]), two_over_square = R(1) / (R(1) + first);
  unit[j] = unit[j] + direction(unit[j], first);
  const auto reflect = [&](auto&& at) {
    T along = conj(unit[j]) * at(e[j]);
    for (int r = j + 1; r < equations; ++r)
      if (has(r)) along = along + conj(unit[r]) * at(e[r]);
    along = scaled(along, two_over_square);
    for (int r = j; r < equations; ++r)
      if (has(r)) at(e[r]) = where(nothing, at(e[r]), at(e[r]) - along * unit[r]);
  };
  for (int k = j; k < width; ++k) reflect([k](Equation<T, width>& row) -> T& { return row.entry[k]; });
  reflect([](Equation<T, width>& row) -> T& { return row.rhs; });
}

/// The same of two equations by a Givens rotation.
template <int column, class T, int width>
constexpr void rotate_out(Equation<T, width>& first, Equation<T, width>& second) {
  using R = decltype(square(T()));
  const T p = first.entry[column], l = second.entry[column];
  const auto nothing = is_zero(l);
  if (!any(!nothing)) return;
  T p_unit = p, l_unit = l;
  R sum = square(p) + square(l);
  if (const auto fits = in_range_of_squares(sum); any(!(fits | nothing))) {
    const R p_size = pivot_size(p), l_size = pivot_size(l);
    const R size = where(fits, R(1), where(precedes(p_size, l_size), l_size, p_size));
    p_unit = divided(p, size), l_unit = divided(l, size);
    sum = square(p_unit) + square(l_unit);
  }
  const R inverse = inverse_root(sum);
  const T cosine = scaled(p_unit, inverse), sine = scaled(l_unit, inverse);
  const auto turn = [&](T& upper, T& lower) {
    const T u = upper, v = lower;
    upper = where(nothing, u, conj(cosine) * u + conj(sine) * v);
    lower = where(nothing, v, cosine * v - sine * u);
  };
  for (int k = column; k < width; ++k) turn(first.entry[k], second.entry[k]);
  turn(first.rhs, second.rhs);
  second.entry[column] = T(0);
}

/// Whether an unknown cannot be computed from this: zero, or so small that one divided by it overflows.
template <class T>
constexpr bool no_pivot(T pivot) {
  return pivot_order(pivot) < pivot_order(real_t<T>(1) / std::numeric_limits<real_t<T>>::max());
}

template <class Chosen, class T, int width>
constexpr void exchange_where(const Chosen& chosen, Equation<T, width>& a, Equation<T, width>& b) {
  const Equation<T, width> kept = a;
  for (int k = 0; k < width; ++k)
    a.entry[k] = where(chosen, b.entry[k], a.entry[k]), b.entry[k] = where(chosen, kept.entry[k], b.entry[k]);
  a.rhs = where(chosen, b.rhs, a.rhs), b.rhs = where(chosen, kept.rhs, b.rhs);
}

/// Which entries elimination may take for zeros: none.
struct AnyEntries {
  constexpr bool lacks_column(int /*equation*/) const { return false; }  ///< the one that is eliminated
  constexpr bool pivot_lacks(int /*column*/) const { return false; }
};

/// What is told of an elimination, so that right-hand sides can go through it later (factor_steps.hpp): here nothing.
struct NoLog {
  template <class Chosen>
  constexpr void exchanged(int /*equation*/, const Chosen&) const {}
  template <class T>
  constexpr void multiplied(int /*equation*/, const T& /*factor*/) const {}
};

/// Eliminates column j from the equations after e[j], into which the pivot comes.
template <BandedMethod method, int j, class T, int width, int equations, class Zeros = AnyEntries, class Log = NoLog>
constexpr void eliminate(Equation<T, width> (&e)[equations], const Zeros& zeros = {}, Log&& log = {}) {
  if constexpr (method == BandedMethod::qr && equations - j == 2) {
    rotate_out<j>(e[j], e[j + 1]);
    return;
  }
  if constexpr (method == BandedMethod::qr) {
    reflect_out<j>(e, zeros);
    return;
  }
  if constexpr (method == BandedMethod::lu)
    for (int r = j + 1; r < equations; ++r)
      if (!zeros.lacks_column(r)) {
        const auto better = precedes(e[j].entry[j], e[r].entry[j]);
        exchange_where(better, e[j], e[r]);
        log.exchanged(r, better);
      }
  const T inverse = T(1) / e[j].entry[j];
  for (int r = j + 1; r < equations; ++r) {
    if (zeros.lacks_column(r)) continue;
    // Where no candidate has the column, what else a singular system is of stays finite.
    T factor = e[r].entry[j] * inverse;
    if constexpr (method == BandedMethod::lu) factor = where(is_zero(e[r].entry[j]), T(0), factor);
    log.multiplied(r, factor);
    for (int k = j + 1; k < width; ++k)
      if (!zeros.pivot_lacks(k)) e[r].entry[k] -= factor * e[j].entry[k];
    e[r].rhs -= factor * e[j].rhs;
  }
}

/// Takes in row after row, row i + ahead for row i of the triangle, which it hands back: its pivot and what stands
/// right of that. `half` equations are under way, one comes in.
template <BandedMethod chosen, class T, int half>
struct EliminationSteps {
  static constexpr BandedMethod method = chosen;
  static constexpr int diagonals = 2 * half + 1, above = method == BandedMethod::thomas ? half : 2 * half, ahead = half;
  Equation<T, diagonals> present[half];

  constexpr void start(const BandedSystem<T>& s) {
    for (int r = 0; r < half; ++r) {
      const auto row = s.template row<diagonals>(r);
      for (int k = half - r; k < diagonals; ++k) present[r].entry[k - half + r] = row.entry[k];
      present[r].rhs = row.rhs;
    }
  }
  template <class Log = NoLog>
  constexpr Equation<T, above + 1> step(const BandRow<T, diagonals>& row, Log&& log = {}) {
    Equation<T, diagonals> e[half + 1];
    for (int r = 0; r < half; ++r) e[r] = present[r];
    for (int k = 0; k < diagonals; ++k) e[half].entry[k] = row.entry[k];
    e[half].rhs = row.rhs;
    eliminate<method, 0>(e, PivotOf{}, log);
    for (int r = 0; r < half; ++r) {
      for (int k = 1; k < diagonals; ++k) present[r].entry[k - 1] = e[r + 1].entry[k];
      present[r].entry[diagonals - 1] = T{}, present[r].rhs = e[r + 1].rhs;
    }
    Equation<T, above + 1> made;
    for (int k = 0; k <= above; ++k) made.entry[k] = e[0].entry[k];
    made.rhs = e[0].rhs;
    return made;
  }

 private:
  struct PivotOf : AnyEntries {
    constexpr bool pivot_lacks(int column) const { return column > above; }
  };
};

/// Where a thread keeps the rows of a system's triangle, which have ones on their diagonals: the k-th entry right of it
/// at above[(k - 1) plane + i step], the right-hand side, then the unknown, at x[i x_step].
template <class T>
struct KeptRows {
  T* above;
  std::int64_t plane, step;
  T* x;
  std::int64_t x_step;

  /// From the last row on.
  constexpr KeptRows reversed(std::int32_t rows) const {
    return {above + (rows - 1) * step, plane, -step, x + (rows - 1) * x_step, -x_step};
  }
};

/// In the workspace, and in x where that has no place for right-hand sides.
template <class T>
constexpr KeptRows<T> kept_in_work(const BandedSolve<T>& s, const BandedSystem<T>& system, std::int64_t j) {
  const std::int64_t first = s.compact.at(0, j), step = s.compact.row_stride;
  return {s.above + first, s.compact.unknowns(), step, s.rhs ? s.rhs + first : system.x,
          s.rhs ? step : system.rhs_stride};
}

/// Keeps row i, divided by its pivot, and notes where there is none.
template <class T, int width>
constexpr void keep_row(const KeptRows<T>& kept, std::int32_t i, const Equation<T, width>& row,
                        std::int32_t& zero_row) {
  if (zero_row == no_row && no_pivot(row.entry[0])) zero_row = i;
  const T inverse = T(1) / row.entry[0];
  for (int k = 1; k < width; ++k) kept.above[(k - 1) * kept.plane + i * kept.step] = row.entry[k] * inverse;
  kept.x[i * kept.x_step] = row.rhs * inverse;
}

/// From the last row to the first; it keeps the unknowns that the next row needs.
template <class T, int above>
struct BackSteps {
  T known[above] = {};

  /// The unknown of a row with those entries right of its diagonal, where ones of the matrix stand there.
  constexpr T step(const T (&entries)[above], T rhs) {
    for (int k = 0; k < above; ++k) rhs -= entries[k] * known[k];
    for (int k = above - 1; k > 0; --k) known[k] = known[k - 1];
    return known[0] = rhs;
  }
};

/// Entries of a row right of its diagonal that are kept.
constexpr int entries_above(int diagonals, BandedMethod method) {
  return method == BandedMethod::thomas ? diagonals / 2 : diagonals - 1;
}

/// How CUDA solves systems one to a thread. Varied on an H200 with 4 to 4096 rows, in float64.
struct BandThreadTuning {
  static constexpr int threads = 64;  ///< of a block; 128 is as quick
  /// Of a band, in the rows that are loaded before they are needed: with few rows registers are scarcer than loads
  /// under way.
  static constexpr std::size_t bytes_ahead = 128, bytes_ahead_of_five = 64, bytes_ahead_of_short = 32;
  static constexpr std::int32_t short_rows = 16;
  static constexpr std::size_t kept_bytes = 1024;  ///< of a system in shared memory; longer ones use the workspace
};

/// Of a system's triangle, with its right-hand side.
constexpr std::size_t triangle_bytes(std::int32_t rows, int above, std::size_t entry_bytes) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(above + 1) * entry_bytes;
}
/// Whether a thread keeps its system's triangle in shared memory, so that workspace is not needed.
constexpr bool kept_in_shared(std::int32_t rows, int above, std::size_t entry_bytes) {
  return triangle_bytes(rows, above, entry_bytes) <= BandThreadTuning::kept_bytes;
}

/// use(std::type_identity of the steps).
template <class T, class Use>
void with_steps(int diagonals, BandedMethod method, Use&& use) {
  const auto with = [&]<int half>(std::integral_constant<int, half>) {
    if (method == BandedMethod::thomas)
      use(std::type_identity<EliminationSteps<BandedMethod::thomas, T, half>>());
    else if (method == BandedMethod::lu)
      use(std::type_identity<EliminationSteps<BandedMethod::lu, T, half>>());
    else
      use(std::type_identity<EliminationSteps<BandedMethod::qr, T, half>>());
  };
  if (diagonals == 3)
    with(std::integral_constant<int, 1>());
  else
    with(std::integral_constant<int, 2>());
}

template <class T>
void run_banded(const Host&, int diagonals, BandedMethod, const BandedSolve<T>&);
template <class T>
void run_banded(const Cuda&, int diagonals, BandedMethod, const BandedSolve<T>&);

template <class T, class Where>
struct BandedKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, int, BandedMethod, const BandedSolve<kernel_t<T>>&)>(run_banded)};
};

}  // namespace krill::detail
