// What is kept of an elimination so that right-hand sides can go through it again and again, and how they do.
#pragma once
#include "sparse/banded/ends.hpp"

namespace krill::detail {

/// What a row of a factor says of its elimination: each equation below, was it exchanged with the pivot row, then how
/// often was the pivot row taken from it?
template <class T, int half, class Chosen = bool>
struct FactorLog {
  T multiplier[half] = {};
  Chosen exchange[half] = {};

  constexpr void exchanged(int equation, const Chosen& chosen) { exchange[equation - 1] = chosen; }
  constexpr void multiplied(int equation, const T& factor) { multiplier[equation - 1] = factor; }
};

/// EliminationSteps of a right-hand side alone: the same operations in the same order.
template <BandedMethod method, class T, int half>
struct RhsSteps {
  T present[half] = {};

  /// Takes in that of row i + half and hands that of row i of the triangle back.
  template <class Log>
  constexpr T step(const T& b, const Log& log) {
    T e[half + 1];
    for (int r = 0; r < half; ++r) e[r] = present[r];
    e[half] = b;
    if constexpr (method == BandedMethod::lu)
      for (int r = 1; r <= half; ++r) {
        const T kept = e[0];
        e[0] = where(log.exchange[r - 1], e[r], e[0]), e[r] = where(log.exchange[r - 1], kept, e[r]);
      }
    for (int r = 1; r <= half; ++r) e[r] -= log.multiplier[r - 1] * e[0];
    for (int r = 0; r < half; ++r) present[r] = e[r + 1];
    return e[0];
  }
};

/// Words of a factor's row: its multipliers, one over its pivot, and what stands right of its diagonal, times that.
constexpr int factor_words(int diagonals, BandedMethod method) {
  return diagonals / 2 + 1 + entries_above(diagonals, method);
}

/// Where the factor of a system lies: word w of row i at words[w plane + i step], bit r of exchanges[i step] for the
/// exchange with equation r + 1.
template <class T>
struct FactorRows {
  using Bits = std::conditional_t<std::is_const_v<T>, const std::uint8_t, std::uint8_t>;
  T* words;
  Bits* exchanges;  ///< null where nobody pivots
  std::int64_t plane, step;

  constexpr T& word(int w, std::int64_t i) const { return words[w * plane + i * step]; }
  /// From the last row on.
  constexpr FactorRows reversed(std::int32_t rows) const {
    return {words + (rows - 1) * step, exchanges ? exchanges + (rows - 1) * step : nullptr, plane, -step};
  }
};

/// Keeps row i, and notes where there is no pivot.
template <class T, int half, int width>
constexpr void keep_factor_row(const FactorRows<T>& rows, std::int32_t i, const FactorLog<T, half>& log,
                               const Equation<T, width>& row, std::int32_t& zero_row) {
  if (zero_row == no_row && no_pivot(row.entry[0])) zero_row = i;
  const T inverse = T(1) / row.entry[0];
  unsigned bits = 0;
  for (int r = 0; r < half; ++r) {
    rows.word(r, i) = log.multiplier[r];
    bits |= log.exchange[r] ? 1U << r : 0U;
  }
  rows.word(half, i) = inverse;
  for (int k = 1; k < width; ++k) rows.word(half + k, i) = row.entry[k] * inverse;
  if (rows.exchanges) rows.exchanges[i * rows.step] = static_cast<std::uint8_t>(bits);
}

/// The part of row i that a right-hand side meets on its way down.
template <class T, int half>
struct FactorDown {
  FactorLog<T, half> log;
  T inverse{}, b{};

  constexpr void load(const FactorRows<const T>& rows, std::int32_t i) {
    for (int r = 0; r < half; ++r) log.multiplier[r] = rows.word(r, i);
    inverse = rows.word(half, i);
    if (!rows.exchanges) return;
    const unsigned bits = rows.exchanges[i * rows.step];
    for (int r = 0; r < half; ++r) log.exchange[r] = (bits >> r & 1U) != 0;
  }
};

/// The equations that an end leaves, in the rows of the unknowns in the middle, which have no other use.
template <class T, int half>
constexpr void keep_left_over(const FactorRows<T>& rows, std::int32_t count,
                              const Equation<T, 2 * half + 1> (&left)[half]) {
  for (int r = 0; r < half; ++r)
    for (int k = 0; k < 2 * half; ++k) rows.word(k, count + r) = left[r].entry[k];
}
/// The same with right-hand sides.
template <class T, int half>
constexpr void load_left_over(const FactorRows<const T>& rows, std::int32_t count, const T (&rhs)[half],
                              Equation<T, 2 * half + 1> (&left)[half]) {
  for (int r = 0; r < half; ++r) {
    for (int k = 0; k < 2 * half; ++k) left[r].entry[k] = rows.word(k, count + r);
    left[r].rhs = rhs[r];
  }
}

/// The row that has no pivot, from what both ends have noted, and the equations that they have left over.
template <BandedMethod method, class T, int half>
constexpr std::int32_t zero_row_of_factor(const BandEnds& ends, const FactorRows<const T>& rows, std::int32_t first,
                                          std::int32_t last) {
  int middle = 2 * half;
  if (ends.number == 2) {
    const T rhs[half] = {};
    Equation<T, 2 * half + 1> left[2][half];
    load_left_over(rows, ends.count(0), rhs, left[0]);
    load_left_over(rows.reversed(ends.rows), ends.count(1), rhs, left[1]);
    T x[2 * half] = {};
    middle = solve_middle<method>(left[0], left[1], x);
  }
  return zero_row_of_ends(ends, first, middle, last);
}

/// What kernels get: matrices to factor.
template <class T>
struct BandedFactoring {
  BandedView<const T> a;
  bool conjugated;
  BandLayout vectors;  ///< of the solves that follow
  BandEnds ends;
  T* words;
  std::uint8_t* exchanges;
  std::int32_t* zero_rows;
};
/// What kernels get: right-hand sides to solve with. One factor may stand for all of them.
template <class T>
struct FactoredSolve {
  BandLayout matrices, vectors;
  BandEnds ends;
  const T* words;
  const std::uint8_t* exchanges;
  const T* b;
  T* x;
};

/// System j, whose diagonal stands for its right-hand side, which nobody asks for.
template <class T>
constexpr BandedSystem<T> system_without_rhs(const BandedFactoring<T>& s, std::int64_t j) {
  BandedSolve<T> solve{};
  solve.a = s.a, solve.conjugated = s.conjugated, solve.vectors = s.a.layout;
  solve.b = s.a.d, solve.x = const_cast<T*>(s.a.d);
  return {solve, j};
}

template <class T>
void run_factoring(const Host&, int diagonals, BandedMethod, const BandedFactoring<T>&);
template <class T>
void run_factoring(const Cuda&, int diagonals, BandedMethod, const BandedFactoring<T>&);
template <class T>
void run_factored(const Host&, int diagonals, BandedMethod, const FactoredSolve<T>&);
template <class T>
void run_factored(const Cuda&, int diagonals, BandedMethod, const FactoredSolve<T>&);

template <class T, class Where>
struct FactorKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, int, BandedMethod, const BandedFactoring<kernel_t<T>>&)>(run_factoring),
      instance<void(const Where&, int, BandedMethod, const FactoredSolve<kernel_t<T>>&)>(run_factored)};
};

}  // namespace krill::detail
