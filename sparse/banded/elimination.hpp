// The steps by which a system of a batch is solved, the same on both backends: rows from the first to the last, then
// back. A step leaves row i of an upper triangle with ones on its diagonal, and its right-hand side in x.
#pragma once
#include <cmath>

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
  T* above;            // the k-th entry right of the diagonal, k from 1: at (k - 1) unknowns + compact.at(i, j)
  std::int32_t* zero_rows;

  constexpr std::int32_t rows() const { return a.layout.rows; }
  /// a(i, i + k) of system j; 0 outside of the matrix, whatever lies there.
  constexpr T entry(std::int64_t i, std::int64_t j, int k) const {
    if (i >= rows() || i + k < 0 || i + k >= rows()) return T{};
    const T* const band = k == -2 ? a.ds : k == -1 ? a.dl : k == 0 ? a.d : k == 1 ? a.du : a.dw;
    return band[a.layout.at(i, j)];
  }
  constexpr T rhs(std::int64_t i, std::int64_t j) const { return i < rows() ? b[vectors.at(i, j)] : T{}; }
  constexpr T& above_at(std::int64_t i, std::int64_t j, int k) const {
    return above[(k - 1) * compact.unknowns() + compact.at(i, j)];
  }
};

/// An equation: entries from the present column on, and its right-hand side.
template <class T, int width>
struct Equation {
  T entry[width] = {};
  T rhs{};
};

/// Rotates two equations so that the first has all of both first entries. Scaled by the greater of them, so that
/// squares neither vanish nor overflow.
template <class T, int width>
constexpr void rotate_out(Equation<T, width>& first, Equation<T, width>& second) {
  const T p = first.entry[0], l = second.entry[0];
  if (l == T(0)) return;
  using R = real_t<T>;
  const R p_size = pivot_size(p), l_size = pivot_size(l), size = p_size > l_size ? p_size : l_size;
  T p_unit{}, l_unit{};
  R sum{};
  if constexpr (is_complex<T>) {
    p_unit = {p.re / size, p.im / size}, l_unit = {l.re / size, l.im / size};
    sum = p_unit.re * p_unit.re + p_unit.im * p_unit.im + l_unit.re * l_unit.re + l_unit.im * l_unit.im;
  } else {
    p_unit = p / size, l_unit = l / size;
    sum = p_unit * p_unit + l_unit * l_unit;
  }
  const R inverse = R(1) / std::sqrt(sum);
  const T cosine = scaled(p_unit, inverse), sine = scaled(l_unit, inverse);
  const auto turn = [&](T& upper, T& lower) {
    const T u = upper, v = lower;
    upper = conj(cosine) * u + conj(sine) * v;
    lower = cosine * v - sine * u;
  };
  for (int k = 0; k < width; ++k) turn(first.entry[k], second.entry[k]);
  turn(first.rhs, second.rhs);
  second.entry[0] = T(0);
}

/// Leaves a finished equation, and notes a zero on its diagonal.
template <class T, int width>
constexpr void leave(const BandedSolve<T>& s, std::int64_t i, std::int64_t j, const Equation<T, width>& row,
                     std::int32_t& zero_row) {
  const T pivot = row.entry[0];
  if (pivot == T(0) && zero_row == no_row) zero_row = static_cast<std::int32_t>(i);
  for (int k = 1; k < width; ++k) s.above_at(i, j, k) = row.entry[k] / pivot;
  s.x[s.vectors.at(i, j)] = row.rhs / pivot;
}

/// Elimination without pivoting.
template <class T>
struct ThomasSteps {
  using Value = T;
  static constexpr int above = 1;
  T upper{}, former{};  // the row before: right of its diagonal, and its right-hand side
  std::int32_t zero_row = no_row;

  constexpr void start(const BandedSolve<T>&, std::int64_t) {}
  constexpr void step(const BandedSolve<T>& s, std::int64_t i, std::int64_t j) {
    const T l = s.entry(i, j, -1);
    const T pivot = s.entry(i, j, 0) - l * upper, rhs = s.rhs(i, j) - l * former;
    leave(s, i, j, Equation<T, 2>{{pivot, s.entry(i, j, 1)}, rhs}, zero_row);
    upper = s.entry(i, j, 1) / pivot, former = rhs / pivot;
  }
};

/// Elimination with partial pivoting: of the present equation and the next row the one with the greater first entry.
template <class T>
struct PivotedSteps {
  using Value = T;
  static constexpr int above = 2;
  Equation<T, 3> present;
  std::int32_t zero_row = no_row;

  constexpr void start(const BandedSolve<T>& s, std::int64_t j) {
    present = {{s.entry(0, j, 0), s.entry(0, j, 1), T{}}, s.rhs(0, j)};
  }
  constexpr void step(const BandedSolve<T>& s, std::int64_t i, std::int64_t j) {
    Equation<T, 3> pivot = present;
    Equation<T, 3> other{{s.entry(i + 1, j, -1), s.entry(i + 1, j, 0), s.entry(i + 1, j, 1)}, s.rhs(i + 1, j)};
    if (pivot_size(other.entry[0]) > pivot_size(pivot.entry[0])) {
      const Equation<T, 3> kept = pivot;
      pivot = other, other = kept;
    }
    leave(s, i, j, pivot, zero_row);
    const T factor = other.entry[0] == T(0) ? T(0) : other.entry[0] / pivot.entry[0];
    present = {{other.entry[1] - factor * pivot.entry[1], other.entry[2] - factor * pivot.entry[2], T{}},
               other.rhs - factor * pivot.rhs};
  }
};

/// Givens rotations, three diagonals.
template <class T>
struct RotatedSteps {
  using Value = T;
  static constexpr int above = 2;
  Equation<T, 3> present;
  std::int32_t zero_row = no_row;

  constexpr void start(const BandedSolve<T>& s, std::int64_t j) {
    present = {{s.entry(0, j, 0), s.entry(0, j, 1), T{}}, s.rhs(0, j)};
  }
  constexpr void step(const BandedSolve<T>& s, std::int64_t i, std::int64_t j) {
    Equation<T, 3> next{{s.entry(i + 1, j, -1), s.entry(i + 1, j, 0), s.entry(i + 1, j, 1)}, s.rhs(i + 1, j)};
    rotate_out(present, next);
    leave(s, i, j, present, zero_row);
    present = {{next.entry[1], next.entry[2], T{}}, next.rhs};
  }
};

/// Givens rotations, five diagonals: two equations are under way, a third comes in.
template <class T>
struct RotatedStepsOfFive {
  using Value = T;
  static constexpr int above = 4;
  Equation<T, 5> present, second;
  std::int32_t zero_row = no_row;

  constexpr void start(const BandedSolve<T>& s, std::int64_t j) {
    present = {{s.entry(0, j, 0), s.entry(0, j, 1), s.entry(0, j, 2), T{}, T{}}, s.rhs(0, j)};
    second = {{s.entry(1, j, -1), s.entry(1, j, 0), s.entry(1, j, 1), s.entry(1, j, 2), T{}}, s.rhs(1, j)};
  }
  constexpr void step(const BandedSolve<T>& s, std::int64_t i, std::int64_t j) {
    Equation<T, 5> third{{s.entry(i + 2, j, -2), s.entry(i + 2, j, -1), s.entry(i + 2, j, 0), s.entry(i + 2, j, 1),
                          s.entry(i + 2, j, 2)},
                         s.rhs(i + 2, j)};
    rotate_out(present, second);
    rotate_out(present, third);
    leave(s, i, j, present, zero_row);
    present = shifted(second), second = shifted(third);
  }

 private:
  static constexpr Equation<T, 5> shifted(const Equation<T, 5>& e) {
    return {{e.entry[1], e.entry[2], e.entry[3], e.entry[4], T{}}, e.rhs};
  }
};

/// From the last row to the first; it keeps the unknowns that the next row needs.
template <class Steps, class T = typename Steps::Value>
struct BackSteps {
  T known[Steps::above] = {};

  constexpr void step(const BandedSolve<T>& s, std::int64_t i, std::int64_t j) {
    T& x = s.x[s.vectors.at(i, j)];
    T sum = x;
    for (int k = 1; k <= Steps::above && i + k < s.rows(); ++k) sum -= s.above_at(i, j, k) * known[k - 1];
    for (int k = Steps::above - 1; k > 0; --k) known[k] = known[k - 1];
    known[0] = x = sum;
  }
};

/// Entries of a row right of its diagonal that are kept.
constexpr int entries_above(int diagonals, BandedMethod method) {
  return diagonals == 5 ? 4 : method == BandedMethod::thomas ? 1 : 2;
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
