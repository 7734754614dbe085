// The passes of the estimate of the largest eigenvalue.
#pragma once
#include <cmath>

#include "solvers/bad_row.hpp"
#include "sparse/core/counter_random.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// The greatest sum of moduli in a row of D^-1 A, and the first row where that is not finite.
struct RowBound {
  double max = 0;
  BadRow bad;
  constexpr RowBound& operator+=(const RowBound& other) {
    if (other.max > max) max = other.max;
    bad += other.bad;
    return *this;
  }
};

/// No eigenvalue of D^-1 A is larger than its greatest row sum (Gershgorin 1931). Over the rows.
template <class T, class Offset>
struct BoundRows {
  using Sum = RowBound;
  CsrView<const T, Offset> a;
  const real_t<T>* inverse;
  RowBound* bound;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    double sum = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) sum += std::sqrt(squared(a.values[k]));
    sum *= std::abs(static_cast<double>(inverse[i]));
    if (is_finite(sum)) return {sum, {}};
    return {0, {static_cast<std::int32_t>(i), 0}};
  }
  constexpr void finish(const Sum& sum) const { *bound = sum; }
};

/// What the process leaves of each step, on the backend: rz[k] = r' D^-1 r before step k, and p'Ap of the step.
struct LanczosScalars {
  double *rz, *curvatures;
};

/// A random r, the same in every run, that is uniform in the scale of D^-1/2 A D^-1/2 and 0 where D^-1 is; p = 0.
template <class T>
struct StartLanczos {
  using Sum = double;
  const real_t<T>* inverse;
  T *r, *p;
  LanczosScalars scalars;
  std::int64_t first_row;  // of the whole operator's rows, the one of r[0]

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const auto inverse_i = static_cast<double>(inverse[i]);
    const auto value = CounterRandom(1, 0).template symmetric<wide_t<T>>(first_row + i);
    r[i] = inverse_i > 0 ? T(scaled(value, 1 / std::sqrt(inverse_i))) : T{};
    p[i] = T{};
    return squared(r[i]) * inverse_i;
  }
  constexpr void finish(double sum) const { scalars.rz[0] = sum; }
};

/// p = D^-1 r + beta p, beta = rz / former rz.
template <class T>
struct LanczosDirection {
  using Sum = NoSum;
  int step;
  LanczosScalars scalars;
  const real_t<T>* inverse;
  const T* r;
  T* p;
  real_t<T> beta = 0;

  constexpr bool begin() {
    if (step > 0) beta = static_cast<real_t<T>>(scalars.rz[step] / scalars.rz[step - 1]);
    return true;
  }
  constexpr NoSum entry(std::int64_t i) const { return p[i] = scaled(r[i], inverse[i]) + scaled(p[i], beta), NoSum{}; }
};

/// r -= alpha q, alpha = rz / p'q.
template <class T>
struct LanczosResidual {
  using Sum = double;
  int step;
  LanczosScalars scalars;
  const wide_t<T>* curvature;
  const real_t<T>* inverse;
  const T* q;
  T* r;
  real_t<T> alpha = 0;

  constexpr bool begin() {
    alpha = static_cast<real_t<T>>(scalars.rz[step] / real(*curvature));
    return true;
  }
  constexpr double entry(std::int64_t i) const {
    const T value = r[i] - scaled(q[i], alpha);
    r[i] = value;
    return squared(value) * static_cast<double>(inverse[i]);
  }
  constexpr void finish(double sum) const {
    scalars.curvatures[step] = real(*curvature);
    scalars.rz[step + 1] = sum;
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct SpectrumPasses {
  static constexpr auto list =
      passes<Where, BoundRows<T, Offset>, StartLanczos<T>, LanczosDirection<T>, LanczosResidual<T>>;
};

}  // namespace krill::detail
