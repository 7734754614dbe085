// The parts of a factorization by sweeps.
#pragma once
#include <cmath>

#include "sparse/factor/fixed_point.hpp"
#include "sparse/factor/incomplete_passes.hpp"

namespace krill::detail {

/// Entries of each row up to the diagonal, the diagonal included where that is wanted. Over the rows.
template <class Offset>
struct CountPart {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  bool with_diagonal;
  Offset* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    counts[i] = lower_entry(a, i, i + (with_diagonal ? 1 : 0)) - a.row_offsets[i];
    return {};
  }
};

/// Row, column and place in A of those entries. `a` is A, or its transpose with the permutation. Over the rows of `a`.
template <class Offset>
struct FillPart {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const Offset* permutation;  // null: a is A
  const Offset* offsets;      // of the part
  std::int32_t *rows, *cols;
  Offset* sources;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset from = a.row_offsets[i];
    for (Offset e = offsets[i]; e < offsets[i + 1]; ++e, ++from) {
      const auto line = static_cast<std::int32_t>(i), across = a.col_indices[from];
      rows[e] = permutation ? across : line;
      cols[e] = permutation ? line : across;
      sources[e] = permutation ? permutation[from] : from;
    }
    return {};
  }
};

/// The unknowns: the entries of L by rows, then those of U by columns, which end with the diagonal. For Cholesky those
/// of L alone, which hold the diagonal; U is its adjoint.
template <class Offset>
struct Unknowns {
  std::int64_t count = 0;
  Offset lower = 0;  ///< those of L
  Offset base = 0;   ///< those of U begin here; 0 for Cholesky
  bool cholesky = false;
  const Offset* left;   ///< row i of L begins here
  const Offset* right;  ///< column j of U begins so far after base
  const std::int32_t *rows, *cols;
  const std::int32_t* keys;  ///< of U's columns: the rows; for Cholesky the columns of L's rows
  const Offset* sources;     ///< places in A

  /// Where the entries of column j of U end that lie above the diagonal; the diagonal follows, if `has`.
  struct Column {
    Offset end;
    bool has;
  };
  constexpr Column column(std::int32_t j) const {
    const Offset begin = base + right[j], end = base + right[j + 1];
    const bool has = end > begin && keys[end - 1] == j;
    return {end - (has ? 1 : 0), has};
  }

  constexpr bool is_upper(std::int64_t e) const { return e >= lower; }

  /// What elimination with the values v leaves of a, which is entry e of A; and the pivot of its column for entries of
  /// L.
  template <class T>
  struct Left {
    T value, pivot;
  };
  template <class T>
  constexpr Left<T> eliminate(const T* v, T a, std::int64_t e) const {
    const std::int32_t i = rows[e], j = cols[e];
    Offset p = left[i], p_end = static_cast<Offset>(e), q = base + right[j], q_end = static_cast<Offset>(e);
    Left<T> result{a, T(1)};
    if (is_upper(e)) {
      p_end = left[i + 1];
    } else {
      const Column above = column(j);
      q_end = above.end;
      result.pivot = above.has ? v[q_end] : T{};
    }
    while (p < p_end && q < q_end) {
      const std::int32_t mine = cols[p], theirs = keys[q];
      if (mine == theirs)
        result.value -= v[p++] * conj_if(cholesky, v[q++]);
      else if (mine < theirs)
        p = next_entry(cols, p + 1, p_end, theirs);
      else
        q = next_entry(keys, q + 1, q_end, mine);
    }
    return result;
  }
};

/// The entries of A in the order of the unknowns, and the first guess. Over the unknowns.
template <class T, class Offset>
struct FirstGuess {
  using Sum = NoSum;
  Unknowns<Offset> unknowns;
  const T* from;  // A's values
  double diagonal_factor;
  Boost<T> boost;
  T *a, *guess;

  constexpr bool begin() const { return true; }
  constexpr T on_diagonal(Offset place) const { return scaled(from[place], static_cast<real_t<T>>(diagonal_factor)); }
  constexpr NoSum entry(std::int64_t e) const {
    const std::int32_t i = unknowns.rows[e], j = unknowns.cols[e];
    const T value = i == j ? on_diagonal(unknowns.sources[e]) : from[unknowns.sources[e]];
    a[e] = value;
    if (i == j) {
      guess[e] = unknowns.cholesky ? root(value) : boost(value);
    } else if (unknowns.is_upper(e)) {
      guess[e] = value;
    } else {
      const auto [end, has] = unknowns.column(j);
      const T diagonal = has ? on_diagonal(unknowns.sources[end]) : T{};
      const T pivot = unknowns.cholesky ? root(diagonal) : boost(diagonal);
      guess[e] = pivot == T{} ? value : value / pivot;
    }
    return {};
  }
  /// One where there is none: a later sweep may find one.
  static constexpr T root(T value) { return real(value) <= real_t<T>(0) ? T(1) : T(std::sqrt(real(value))); }
};

/// A sweep. Over the unknowns.
template <class T, class Offset>
struct FactorSweep {
  using Sum = NoSum;
  Unknowns<Offset> unknowns;
  Boost<T> boost;
  const T *a, *from;
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const {
    const auto [left, pivot] = unknowns.eliminate(from, a[e], e);
    if (unknowns.is_upper(e)) {
      to[e] = unknowns.rows[e] == unknowns.cols[e] ? boost(left) : left;
    } else if (unknowns.cholesky && unknowns.rows[e] == unknowns.cols[e]) {
      // Where there is no root, the pivot stays: a later sweep may find one.
      to[e] = real(left) <= real_t<T>(0) ? from[e] : T(std::sqrt(real(left)));
    } else {
      to[e] = left / pivot;
    }
    return {};
  }
};

/// The first rows with a bad pivot, and how many pivots were boosted.
struct BadPivots {
  std::int32_t zero = no_row, not_finite = no_row, boosts = 0;
  constexpr BadPivots& operator+=(BadPivots other) {
    if (other.zero < zero) zero = other.zero;
    if (other.not_finite < not_finite) not_finite = other.not_finite;
    boosts += other.boosts;
    return *this;
  }
};

/// The factor in the order of A, and what became of pivots. Over the unknowns.
template <class T, class Offset>
struct StoreFactor {
  using Sum = BadPivots;
  Unknowns<Offset> unknowns;
  Boost<T> boost;
  const T *a, *from;
  T* to;
  std::int32_t* events;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t e) const {
    to[unknowns.sources[e]] = from[e];
    const std::int32_t i = unknowns.rows[e];
    if (unknowns.cols[e] != i) return {};
    if (!unknowns.cholesky) {
      const bool boosted = boost.wanted && boost.changes(unknowns.eliminate(from, a[e], e).value);
      return {from[e] == T{} ? i : no_row, is_finite(from[e]) ? no_row : i, boosted};
    }
    const real_t<T> radicand = real(unknowns.eliminate(from, a[e], e).value);
    return {radicand > real_t<T>(0) ? no_row : i, is_finite(radicand) ? no_row : i, 0};
  }
  constexpr void finish(const Sum& sum) const {
    events[zero_pivot_event] = sum.zero;
    events[bad_pivot_event] = sum.not_finite;
    events[boosted_pivots_event] = sum.boosts;
  }
};

/// to = from. Over the entries.
template <class T>
struct CopyEntries {
  using Sum = NoSum;
  const T* from;
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return to[k] = from[k], NoSum{}; }
};

/// The factor in the order of the unknowns, and A. Over the unknowns.
template <class T, class Offset>
struct GatherFactor {
  using Sum = NoSum;
  Unknowns<Offset> unknowns;
  const T *values, *factor;  // in the order of A
  double diagonal_factor;
  T *a, *v;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const {
    const Offset place = unknowns.sources[e];
    const bool is_diagonal = unknowns.rows[e] == unknowns.cols[e];
    a[e] = is_diagonal ? scaled(values[place], static_cast<real_t<T>>(diagonal_factor)) : values[place];
    v[e] = factor[place];
    return {};
  }
};

/// The squared norm of A less the product of the factors, in the pattern. Over the unknowns.
template <class T, class Offset>
struct FactorResidual {
  using Sum = double;
  Unknowns<Offset> unknowns;
  const T *a, *v;
  double* squared_norm;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t e) const {
    const auto [left, pivot] = unknowns.eliminate(v, a[e], e);
    if (unknowns.is_upper(e)) return squared(left - v[e]);
    if (!unknowns.cholesky) return squared(left - v[e] * pivot);
    if (unknowns.rows[e] == unknowns.cols[e]) {
      const double rest = double(real(left)) - squared(v[e]);
      return rest * rest;
    }
    return 2 * squared(left - v[e] * pivot);  // and its mirror image
  }
  constexpr void finish(const Sum& sum) const { *squared_norm = sum; }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct FixedPointPasses {
  static constexpr auto list =
      passes<Where, CountPart<Offset>, FillPart<Offset>, CopyEntries<T>, FirstGuess<T, Offset>, FactorSweep<T, Offset>,
             StoreFactor<T, Offset>, GatherFactor<T, Offset>, FactorResidual<T, Offset>>;
};

}  // namespace krill::detail
