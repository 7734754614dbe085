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

/// What a kernel gets.
template <class T>
struct BandedSolve {
  BandedView<const T> a;
  BandLayout vectors;  // of b and x
  const T* b;
  T* x;
  BandLayout compact;  // of the work
  T* above;            // of a triangle's rows: the k-th entry right of the diagonal lies in part k - 1
  std::int32_t* zero_rows;

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

  constexpr BandedSystem() = default;
  constexpr BandedSystem(const BandedSolve<T>& s, std::int64_t j)
      : band{},
        b(s.b + s.vectors.at(0, j)),
        x(s.x + s.vectors.at(0, j)),
        stride(s.a.layout.row_stride),
        rhs_stride(s.vectors.row_stride),
        rows(s.rows()) {
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
      if (i + k >= 0 && i + k < rows) r.entry[k + half] = band[k + 2][i * stride];
    r.rhs = b[i * rhs_stride];
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
template <class R>
constexpr R inverse_root(R a) {
#ifdef __CUDA_ARCH__
  return rsqrt(a);
#else
  return R(1) / std::sqrt(a);
#endif
}

/// Rotates two equations so that the first has all of both entries in a column, before which there are none. Scaled by
/// the greater of them where squares would vanish or overflow.
template <int column = 0, class T, int width>
constexpr void rotate_out(Equation<T, width>& first, Equation<T, width>& second) {
  const T p = first.entry[column], l = second.entry[column];
  if (l == T(0)) return;
  using R = real_t<T>;
  T p_unit = p, l_unit = l;
  R sum = square(p) + square(l);
  if (!(sum > std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon() &&
        sum < std::numeric_limits<R>::max())) {
    const R p_size = pivot_size(p), l_size = pivot_size(l), size = p_size > l_size ? p_size : l_size;
    p_unit = divided(p, size), l_unit = divided(l, size);
    sum = square(p_unit) + square(l_unit);
  }
  const R inverse = inverse_root(sum);
  const T cosine = scaled(p_unit, inverse), sine = scaled(l_unit, inverse);
  const auto turn = [&](T& upper, T& lower) {
    const T u = upper, v = lower;
    upper = conj(cosine) * u + conj(sine) * v;
    lower = cosine * v - sine * u;
  };
  for (int k = column; k < width; ++k) turn(first.entry[k], second.entry[k]);
  turn(first.rhs, second.rhs);
  second.entry[column] = T(0);
}

/// Whether an unknown cannot be computed from this: zero, or so small that one divided by it overflows.
template <class T>
constexpr bool no_pivot(T pivot) {
  return pivot == T(0) || pivot_size(pivot) < real_t<T>(1) / std::numeric_limits<real_t<T>>::max();
}

// Steps take in row after row, row i + ahead for row i of the triangle, which they hand back: its pivot and what stands
// right of that.

/// Elimination without pivoting.
template <class T>
struct ThomasSteps {
  using Value = T;
  static constexpr int diagonals = 3, above = 1, ahead = 0;
  T upper{}, former{};  // the row before, divided by its pivot: right of its diagonal, and its right-hand side

  constexpr void start(const BandedSystem<T>&) {}
  constexpr Equation<T, 2> step(const BandRow<T, 3>& row) {
    const Equation<T, 2> made{{row.entry[1] - row.entry[0] * upper, row.entry[2]}, row.rhs - row.entry[0] * former};
    const T inverse = T(1) / made.entry[0];
    upper = made.entry[1] * inverse, former = made.rhs * inverse;
    return made;
  }
};

/// Elimination with partial pivoting: of the present equation and the next row the one with the greater first entry.
template <class T>
struct PivotedSteps {
  using Value = T;
  static constexpr int diagonals = 3, above = 2, ahead = 1;
  Equation<T, 3> present;

  constexpr void start(const BandedSystem<T>& s) {
    const auto first = s.template row<3>(0);
    present = {{first.entry[1], first.entry[2], T{}}, first.rhs};
  }
  constexpr Equation<T, 3> step(const BandRow<T, 3>& row) {
    Equation<T, 3> pivot = present, other{{row.entry[0], row.entry[1], row.entry[2]}, row.rhs};
    if (pivot_size(other.entry[0]) > pivot_size(pivot.entry[0])) {
      const Equation<T, 3> kept = pivot;
      pivot = other, other = kept;
    }
    const T factor = other.entry[0] == T(0) ? T(0) : other.entry[0] * (T(1) / pivot.entry[0]);
    present = {{other.entry[1] - factor * pivot.entry[1], other.entry[2] - factor * pivot.entry[2], T{}},
               other.rhs - factor * pivot.rhs};
    return pivot;
  }
};

/// Givens rotations, three diagonals.
template <class T>
struct RotatedSteps {
  using Value = T;
  static constexpr int diagonals = 3, above = 2, ahead = 1;
  Equation<T, 3> present;

  constexpr void start(const BandedSystem<T>& s) {
    const auto first = s.template row<3>(0);
    present = {{first.entry[1], first.entry[2], T{}}, first.rhs};
  }
  constexpr Equation<T, 3> step(const BandRow<T, 3>& row) {
    Equation<T, 3> next{{row.entry[0], row.entry[1], row.entry[2]}, row.rhs};
    rotate_out(present, next);
    const Equation<T, 3> made = present;
    present = {{next.entry[1], next.entry[2], T{}}, next.rhs};
    return made;
  }
};

/// Givens rotations, five diagonals: two equations are under way, a third comes in.
template <class T>
struct RotatedStepsOfFive {
  using Value = T;
  static constexpr int diagonals = 5, above = 4, ahead = 2;
  Equation<T, 5> present, second;

  constexpr void start(const BandedSystem<T>& s) {
    const auto first = s.template row<5>(0), next = s.template row<5>(1);
    present = {{first.entry[2], first.entry[3], first.entry[4], T{}, T{}}, first.rhs};
    second = {{next.entry[1], next.entry[2], next.entry[3], next.entry[4], T{}}, next.rhs};
  }
  constexpr Equation<T, 5> step(const BandRow<T, 5>& row) {
    Equation<T, 5> third{{row.entry[0], row.entry[1], row.entry[2], row.entry[3], row.entry[4]}, row.rhs};
    rotate_out(present, second);
    rotate_out(present, third);
    const Equation<T, 5> made = present;
    present = shifted(second), second = shifted(third);
    return made;
  }

 private:
  static constexpr Equation<T, 5> shifted(const Equation<T, 5>& e) {
    return {{e.entry[1], e.entry[2], e.entry[3], e.entry[4], T{}}, e.rhs};
  }
};

/// Where a thread keeps the rows of a system's triangle, which have ones on their diagonals: the k-th entry right of it
/// at above[(k - 1) plane + i step], the right-hand side, then the unknown, at x[i x_step].
template <class T>
struct KeptRows {
  T* above;
  std::int64_t plane, step;
  T* x;
  std::int64_t x_step;
};

/// In the workspace and in x itself.
template <class T>
constexpr KeptRows<T> kept_in_work(const BandedSolve<T>& s, const BandedSystem<T>& system, std::int64_t j) {
  return {s.above + s.compact.at(0, j), s.compact.unknowns(), s.compact.row_stride, system.x, system.rhs_stride};
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
  return diagonals == 5 ? 4 : method == BandedMethod::thomas ? 1 : 2;
}

/// How CUDA solves systems one to a thread. Varied on an H200 with 4 to 4096 rows, in float64.
struct BandThreadTuning {
  static constexpr int threads = 64;  ///< of a block; 128 is as quick
  /// Of a band, in the rows that are loaded before they are needed: with few rows registers are scarcer than loads
  /// under way.
  static constexpr std::size_t bytes_ahead = 128, bytes_ahead_of_five = 64, bytes_ahead_of_short = 32;
  static constexpr std::int32_t short_rows = 16;
  static constexpr std::size_t kept_bytes = 1024;     ///< of a system in shared memory; longer ones use the workspace
  static constexpr std::int32_t min_systems = 10000;  ///< side by side, that are not divided among threads
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
  if (diagonals == 5) return use(std::type_identity<RotatedStepsOfFive<T>>());
  if (method == BandedMethod::thomas) return use(std::type_identity<ThomasSteps<T>>());
  if (method == BandedMethod::lu) return use(std::type_identity<PivotedSteps<T>>());
  use(std::type_identity<RotatedSteps<T>>());
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
