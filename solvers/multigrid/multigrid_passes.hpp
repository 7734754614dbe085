// The passes of a multigrid cycle and of its set-up.
#pragma once
#include <cmath>
#include <limits>

#include "solvers/bad_row.hpp"
#include "solvers/multigrid/options.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/fused.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// What is to be said about the entries of a level, of the diagonal above all.
struct DiagonalFacts {
  std::int32_t bad_row = BadRow::none;       ///< the first with an entry that is not finite
  std::int32_t not_positive = BadRow::none;  ///< the first whose diagonal entry is not positive
  std::int32_t zeros = 0, negatives = 0;
  std::int32_t longest_row = 0, alone = 0;  ///< entries; rows with nothing but zeros beside the diagonal
  double row_bound = 0;  ///< the greatest sum of moduli in a row of D^-1 A, which no eigenvalue exceeds
  /// Of the moduli of entries other than 0.
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
  constexpr DiagonalFacts& operator+=(const DiagonalFacts& other) {
    bad_row = other.bad_row < bad_row ? other.bad_row : bad_row;
    not_positive = other.not_positive < not_positive ? other.not_positive : not_positive;
    zeros += other.zeros, negatives += other.negatives, alone += other.alone;
    longest_row = other.longest_row > longest_row ? other.longest_row : longest_row;
    row_bound = other.row_bound > row_bound ? other.row_bound : row_bound;
    least = other.least < least ? other.least : least;
    greatest = other.greatest > greatest ? other.greatest : greatest;
    return *this;
  }
};

/// What a smoother wants to know of a row's entries.
template <class T>
struct SmoothedRow {
  using Size = decltype(magnitude(T()));  // what is not added up is not widened
  double sum = 0;                         ///< of moduli
  Size least = std::numeric_limits<Size>::infinity(), greatest = 0;
  real_t<T> diagonal = 0;   ///< the real part
  std::int32_t beside = 0;  ///< how many are not 0 beside the diagonal
  constexpr SmoothedRow& operator+=(const SmoothedRow& other) {
    sum += other.sum, diagonal += other.diagonal, beside += other.beside;
    least = other.least < least ? other.least : least;
    greatest = other.greatest > greatest ? other.greatest : greatest;
    return *this;
  }
};

/// The real diagonal of a smoother, inverted: 1 / Re a_ii, or with l1 one over the row's sum of moduli, with the sign
/// of Re a_ii; 0 where that is 0. Over the rows' entries.
template <class T, class Offset>
struct InvertSmootherDiagonal {
  using Item = SmoothedRow<T>;
  using Sum = DiagonalFacts;
  CsrView<const T, Offset> a;
  bool l1;
  real_t<T>* inverse;
  DiagonalFacts* facts;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t i, std::int64_t k) const {
    const auto size = magnitude(a.values[k]);
    Item item{.sum = double(size), .greatest = size};
    if (size > 0) item.least = size;
    if (a.col_indices[k] == i)
      item.diagonal = real(a.values[k]);
    else if (size > 0)
      item.beside = 1;
    return item;
  }
  constexpr Sum finish_row(std::int64_t i, const Item& item) const {
    const double sum = item.sum, diagonal = item.diagonal;
    Sum found;
    found.least = item.least, found.greatest = item.greatest;
    const double divisor = l1 && diagonal != 0 ? (diagonal < 0 ? -sum : sum) : diagonal;
    inverse[i] = divisor == 0 ? real_t<T>(0) : static_cast<real_t<T>>(1 / divisor);
    const auto row = static_cast<std::int32_t>(i);
    if (!is_finite(sum) || !is_finite(inverse[i])) found.bad_row = row;
    if (!(diagonal > 0)) found.not_positive = row;
    found.zeros = diagonal == 0, found.negatives = diagonal < 0, found.alone = item.beside == 0;
    found.longest_row = static_cast<std::int32_t>(a.row_offsets[i + 1] - a.row_offsets[i]);
    if (diagonal != 0) found.row_bound = sum / std::abs(diagonal);
    return found;
  }
  constexpr void finish(const Sum& sum) const { *facts = sum; }
};

/// The bound of eigenvalues that a look at the diagonal has found, as an eigenvalue; 1 where that is 0. Over one entry.
struct TakeRowBound {
  using Sum = NoSum;
  const DiagonalFacts* facts;
  double* eigenvalue;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t) const {
    *eigenvalue = facts->row_bound > 0 ? facts->row_bound : 1;
    return {};
  }
};

/// The factors of a polynomial for eigenvalues in (0, *eigenvalue] from those of one for (0, 1], of which only `fresh`
/// depends on it; those themselves where it is null. Over the factors, three a step.
template <class R>
struct ScalePolynomial {
  using Sum = NoSum;
  const double* eigenvalue;
  double polynomial[3 * SmootherOptions::max_degree];
  R* factors;
  double scale = 1;

  constexpr bool begin() {
    if (eigenvalue) scale = 1 / *eigenvalue;
    return true;
  }
  constexpr NoSum entry(std::int64_t k) const {
    factors[k] = static_cast<R>(polynomial[k] * (k % 3 == 1 ? scale : 1));
    return {};
  }
};

/// What a step of a smoother's polynomial is given: {old, fresh, weight}.
template <class R>
struct StepFactors {
  const R* at;
  R old{}, fresh{}, weight{};
  constexpr bool load() { return old = at[0], fresh = at[1], weight = at[2], true; }
};

/// The first step from x = 0: d = fresh D^-1 b, x = weight d, which the next step adds where x is null. Moves 4 n
/// values. With `from`, b becomes that vector first.
template <class T>
struct BeginSmoothing {
  using Sum = NoSum;
  StepFactors<real_t<T>> f;
  const real_t<T>* inverse;
  const T* b;
  T *d, *x;
  const wide_t<T>* from = nullptr;
  T* to = nullptr;  ///< b

  constexpr bool begin() { return f.load(); }
  constexpr NoSum entry(std::int64_t i) const {
    const T b_i = from ? T(from[i]) : b[i], step = scaled(b_i, f.fresh * inverse[i]);
    if (from) to[i] = b_i;
    d[i] = step;
    if (x) x[i] = scaled(step, f.weight);
    return {};
  }
};

/// A step with r = b - A x of the x before it: d = old d + fresh D^-1 r, x += weight d. Moves 6 n values.
template <class T>
struct StepSmoothing {
  using Sum = NoSum;
  StepFactors<real_t<T>> f;
  bool first, last;  ///< there is no d yet; no step reads it any more
  const real_t<T>* inverse;
  const T* r;
  T *d, *x;

  constexpr bool begin() { return f.load(); }
  constexpr NoSum entry(std::int64_t i) const { return x[i] = next(i), NoSum{}; }
  constexpr T next(std::int64_t i) const {
    T step = scaled(r[i], f.fresh * inverse[i]);
    if (!first) step = add_scaled(step, d[i], f.old);
    if (!last) d[i] = step;
    return add_scaled(x[i], step, f.weight);
  }
};

/// The last step of a cycle, and dot = Re b'x.
template <class T>
struct EndSmoothing {
  using Sum = double;
  StepSmoothing<T> step;
  const T* b;
  double* dot;

  constexpr bool begin() { return step.begin(); }
  constexpr double entry(std::int64_t i) const {
    const T value = step.next(i);
    step.x[i] = value;
    return real(conj(wide(b[i])) * wide(value));
  }
  constexpr void finish(double sum) const { *dot = sum; }
};

/// coarse_I = the sum of r over the rows of aggregate I, in their order. Over the aggregates.
template <class T>
struct SumAggregates {
  using Sum = NoSum;
  const std::int32_t *offsets, *rows;
  const T* r;
  T* coarse;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    T sum{};
    for (std::int32_t k = offsets[i]; k < offsets[i + 1]; ++k) sum += r[rows[k]];
    coarse[i] = sum;
    return {};
  }
};

/// x_i += factor coarse_I for the aggregate I of row i.
template <class T>
struct AddAggregates {
  using Sum = NoSum;
  const std::int32_t* of_row;
  real_t<T> factor;
  const T* coarse;
  T* x;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    if (of_row[i] >= 0) x[i] += scaled(coarse[of_row[i]], factor);
    return {};
  }
};

/// The least and the greatest number of rows, or nodes, in an aggregate. Over the aggregates.
struct AggregateSizes {
  std::int32_t least = std::numeric_limits<std::int32_t>::max(), greatest = 0;
  constexpr AggregateSizes& operator+=(const AggregateSizes& other) {
    least = other.least < least ? other.least : least;
    greatest = other.greatest > greatest ? other.greatest : greatest;
    return *this;
  }
};
/// What a report is told of a level once all are made.
struct LevelFigures {
  double max_eigenvalue = 0;
  std::int64_t dead_columns = 0;
  AggregateSizes aggregates;
};
/// Brings them to one place; null: there are none. Over one entry.
struct CollectFigures {
  using Sum = NoSum;
  const double* max_eigenvalue;
  const std::int64_t* dead_columns;
  const AggregateSizes* aggregates;
  LevelFigures* figures;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t) const {
    *figures = {max_eigenvalue ? *max_eigenvalue : 0, dead_columns ? *dead_columns : 0,
                aggregates ? *aggregates : AggregateSizes{}};
    return {};
  }
};

struct MeasureAggregates {
  using Sum = AggregateSizes;
  const std::int32_t* offsets;
  AggregateSizes* sizes;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const std::int32_t size = offsets[i + 1] - offsets[i];
    return {size, size};
  }
  constexpr void finish(const Sum& sum) const { *sizes = sum; }
};

/// The two steps of a Krylov method on a coarse level (Notay 2010): c1 and c2 are cycles' answers to b and to
/// r = b - t1 v1, with v = A c and dots with s, which is c for Hermitian positive definite A and v for others.
template <class W>
struct KrylovCycleSums {
  const W *s1_v1, *s1_b, *s1_v2, *s2_v2, *s2_r;
};

/// r = b - (s1'b / s1'v1) v1; all of b where the quotient does not exist.
template <class T>
struct FirstCycleResidual {
  using Sum = NoSum;
  const wide_t<T>*s1_v1, *s1_b;
  const T *b, *v1;
  T* r;
  T factor{};

  constexpr bool begin() {
    const double size = real(*s1_v1);
    factor = size > 0 ? T(wide_t<T>(1 / size) * *s1_b) : T{};
    return true;
  }
  constexpr NoSum entry(std::int64_t i) const { return r[i] = b[i] - factor * v1[i], NoSum{}; }
};

/// x = t1 c1 + t2 c2, the best combination. Where sums are not positive, as of a matrix that is not definite, x is c1.
template <class T>
struct CombineCycles {
  using Sum = NoSum;
  KrylovCycleSums<wide_t<T>> sums;
  const T *c1, *c2;
  T* x;
  T first{}, second{};

  constexpr bool begin() {
    const double size1 = real(*sums.s1_v1);
    first = T(static_cast<real_t<T>>(1));
    second = T{};
    if (!(size1 > 0)) return true;
    const wide_t<T> one = wide_t<T>(1 / size1) * *sums.s1_b, mixed = wide_t<T>(1 / size1) * *sums.s1_v2;
    const double size2 = real(*sums.s2_v2) - squared(*sums.s1_v2) / size1;
    wide_t<T> two{};
    if (size2 > 1e-14 * real(*sums.s2_v2)) two = wide_t<T>(1 / size2) * *sums.s2_r;
    first = T(one - mixed * two), second = T(two);
    return true;
  }
  constexpr NoSum entry(std::int64_t i) const { return x[i] = first * c1[i] + second * c2[i], NoSum{}; }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct MultigridPasses {
  static constexpr auto list = passes<Where, BeginSmoothing<T>, StepSmoothing<T>, EndSmoothing<T>, SumAggregates<T>,
                                      AddAggregates<T>, MeasureAggregates, CollectFigures, FirstCycleResidual<T>,
                                      CombineCycles<T>, TakeRowBound, ScalePolynomial<real_t<T>>>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct MultigridSetupPasses {
  static constexpr std::tuple list{instance<void(const Where&, InvertSmootherDiagonal<T, Offset>)>(reduce_rows)};
};

}  // namespace krill::detail
