// The entry-by-entry parts of a scaling.
#pragma once
#include <limits>

#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

/// |a| without overflow on the way; NaN where a is not finite.
template <class T>
constexpr double modulus(T a) {
  if (!is_finite(a)) return std::numeric_limits<double>::quiet_NaN();
  if constexpr (is_complex<T>) {
    const double re = a.re < 0 ? -a.re : a.re, im = a.im < 0 ? -a.im : a.im;
    const double most = re < im ? im : re, ratio = most > 0 ? (re < im ? re : im) / most : 0;
    return most * square_root(1 + ratio * ratio);
  } else {
    return a < 0 ? -a : a;
  }
}

/// The greater one; NaN where one is.
constexpr double greater(double a, double b) { return a != a || b < a ? a : b; }

/// norms_i = max_j |a_ij| rows_i cols_j; over the rows.
template <class T, class Offset>
struct RowMaxima {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  const double *rows, *cols;
  double* norms;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    double most = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      most = greater(most, modulus(a.values[k]) * (rows[i] * cols[a.col_indices[k]]));
    norms[i] = most;
    return {};
  }
};

/// norms_i = |a_ii|.
template <class T, class Offset>
struct DiagonalModuli {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  double* norms;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    norms[i] = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      if (a.col_indices[k] == i) norms[i] = modulus(a.values[k]);
    return {};
  }
};

/// a_i = max(a_i, b_i).
struct TakeGreater {
  using Sum = NoSum;
  double* a;
  const double* b;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    a[i] = greater(a[i], b[i]);
    return {};
  }
};

/// factors_i /= sqrt(norms_i), and the first norm that is zero or not finite.
struct DivideByRoots {
  using Sum = FirstRow;
  const double* norms;
  double* factors;
  FirstRow* fault;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    if (!(norms[i] > 0)) return {static_cast<std::int32_t>(i)};
    factors[i] /= square_root(norms[i]);
    return {};
  }
  constexpr void finish(const Sum& sum) const { *fault = sum; }
};

/// out_i = in_i, in another precision.
template <class R>
struct RoundFactors {
  using Sum = NoSum;
  const double* in;
  R* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    out[i] = static_cast<R>(in[i]);
    return {};
  }
};

/// Entries times the factors of their rows and columns; over the rows.
template <class T, class Offset>
struct ScaleEntries {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  const real_t<T>*rows, *cols;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      values[k] = scaled(a.values[k], rows[i] * cols[a.col_indices[k]]);
    return {};
  }
};

/// out_i = in_i d_i, or in_i / d_i.
template <class T>
struct ScaleVector {
  using Sum = NoSum;
  const real_t<T>* factors;
  const T* in;
  T* out;
  bool divide;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    out[i] = scaled(in[i], divide ? real_t<T>(1) / factors[i] : factors[i]);
    return {};
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ScalingPasses {
  static constexpr auto list = passes<Where, RowMaxima<T, Offset>, DiagonalModuli<T, Offset>, TakeGreater,
                                      DivideByRoots, RoundFactors<real_t<T>>, ScaleEntries<T, Offset>, ScaleVector<T>>;
};

}  // namespace krill::detail
