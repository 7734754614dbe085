// The passes of the estimate of the largest eigenvalue.
#pragma once
#include <cmath>

#include "solvers/bad_row.hpp"
#include "solvers/spectrum.hpp"
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

/// What the process leaves of each step, on the backend: norms[k] = u'Du of its vector u, curvatures[k] = u'Au; and
/// whether it has ended.
struct LanczosScalars {
  double *norms, *curvatures;
  Reason* stop;
};

/// A symmetric tridiagonal matrix: the operator, as Lanczos saw it. beside[k] is between k and k + 1; the last one is
/// that of the next step.
struct Tridiagonal {
  double *diagonal, *beside;
  int size = 0;

  struct Ritz {
    double value, last_component;
  };
  /// The largest eigenvalue, and the last component of its vector of length 1: Newton's steps from above for the
  /// characteristic polynomial, which come down to its largest root one by one. The vector has the ratio of the
  /// polynomial before the last to the derivative of the last one as the square of that component.
  constexpr Ritz largest() const {
    double x = 0, component = 1;
    for (int k = 0; k < size; ++k) {
      const double sum = diagonal[k] + beside[k] + (k ? beside[k - 1] : 0);
      if (sum > x) x = sum;
    }
    for (int newton = 0; newton < max_newton; ++newton) {
      double before = 0, slope_before = 0, p = 1, slope = 0;
      for (int k = 0; k < size; ++k) {
        const double a = x - diagonal[k], b = k ? beside[k - 1] * beside[k - 1] : 0;
        const double next = a * p - b * before, next_slope = p + a * slope - b * slope_before;
        before = p, slope_before = slope, p = next, slope = next_slope;
        const double size_of = slope > p ? slope : p;  // ratios alone are wanted
        if (size_of > 0x1p500 || size_of < 0x1p-500) {
          const double scale = size_of > 1 ? 0x1p-500 : 0x1p500;
          before *= scale, slope_before *= scale, p *= scale, slope *= scale;
        }
      }
      component = before / slope;
      const double step = p / slope;
      if (!(step > 1e-15 * x)) break;
      x -= step;
    }
    return {x, component > 0 ? std::sqrt(component) : 0};
  }

 private:
  static constexpr int max_newton = 100;
};

/// What `steps` steps have found. *upper is the bound by rows before, and what eigenvalues are not expected to exceed
/// after it: the residual of the Ritz vector, which is its last component times the next entry beside the diagonal,
/// added to the Ritz value (Zhou and Li 2011), or a margin over that value. The process ends where the bound by rows is
/// near, and with an early margin where that is more than the residual. Pivots of the tridiagonal matrix are p'Ap of
/// the directions that conjugate gradients would take, so a negative one says that A is not definite. Over nothing.
struct FindRitz {
  using Sum = std::int32_t;
  static constexpr double near_bound = 1.2;  ///< times the Ritz value: more steps would find little then
  static constexpr double last_margin = 1.1;
  int steps;
  double early_margin;  ///< 0: there is none, or this is the end
  double rounding;      ///< of the vectors: no eigenvalue that is less below 0, over the bound, is taken for negative
  LanczosScalars scalars;
  double* room;  // 2 a step
  double* upper;
  LanczosFound* found;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t) const { return 0; }
  constexpr void finish(Sum) const {
    LanczosFound now;
    now.products = steps;
    Tridiagonal t{room, room + steps};
    const double* const norms = scalars.norms;
    const auto goes_on = [&](int k) { return norms[k] > (k ? 1e-20 * t.diagonal[k - 1] * t.diagonal[k - 1] : 0); };
    double pivot = 0;
    for (int k = 0; k < steps && goes_on(k); ++k) {
      t.diagonal[k] = scalars.curvatures[k] / norms[k];
      t.beside[k] = std::sqrt(norms[k + 1]);
      pivot = t.diagonal[k] + rounding * *upper - (k ? t.beside[k - 1] * t.beside[k - 1] / pivot : 0);
      if (!(pivot > 0) || !is_finite(pivot)) {
        now.bad_curvature = pivot, now.is_bad = 1;
        break;
      }
      t.size = k + 1;
    }
    if (now.is_bad) {
      *scalars.stop = Reason::converged;
    } else if (t.size > 0) {
      const auto [ritz, component] = t.largest();
      const double guarded = ritz + t.beside[t.size - 1] * component,
                   more = (early_margin > 0 ? early_margin : last_margin) * ritz;
      now.ritz = ritz;
      const bool is_near = near_bound * ritz >= *upper;
      if (const double wanted = guarded > more ? guarded : more; !is_near && wanted < *upper) now.upper = wanted;
      if (is_near || (early_margin > 0 && guarded <= more)) *scalars.stop = Reason::converged;
    }
    *found = now;
  }
};

/// *upper becomes what was found below it; 1 where it is 0. Over one entry.
struct TakeRitz {
  using Sum = NoSum;
  const LanczosFound* found;
  double* upper;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t) const {
    if (found->upper > 0 && found->upper < *upper) *upper = found->upper;
    if (!(*upper > 0)) *upper = 1;
    return {};
  }
};

/// |value|^2 / inverse, 0 where that is 0. The division is in the precision of T, for sums of squares need no more, and
/// one in double takes CUDA as long as all else that a step computes.
template <class T>
constexpr double squared_over(T value, real_t<T> inverse) {
  return inverse > 0 ? squared(value) * static_cast<double>(1 / inverse) : 0;
}

/// u random, the same in every run, uniform in the scale of D^-1/2 A D^-1/2, and 0 where D^-1 is; before = 0.
template <class T>
struct StartLanczos {
  using Sum = double;
  const real_t<T>* inverse;
  T *u, *before;
  LanczosScalars scalars;
  std::int64_t first_row;  // of the whole operator's rows, the one of u[0]

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const real_t<T> inverse_i = inverse[i];
    const auto value = T(CounterRandom(1, 0).template symmetric<wide_t<T>>(first_row + i));
    const T start = inverse_i > 0 ? scaled(value, std::sqrt(inverse_i)) : T{};
    u[i] = start, before[i] = T{};
    return squared_over(start, inverse_i);
  }
  constexpr void finish(double sum) const { scalars.norms[0] = sum, *scalars.stop = Reason::running; }
};

/// The next vector, in place of the one before u: (D^-1 w - alpha u) / |u| - |u| / |before| before, with w = A u and
/// alpha = u'w / |u|^2, norms in D. |before| is that of the step before; u / |u| are orthogonal in D.
template <class T>
struct LanczosStep {
  using Sum = double;
  int step;
  LanczosScalars scalars;
  const wide_t<T>* curvature;
  const real_t<T>* inverse;
  const T *w, *u;
  T* before;
  real_t<T> of_w = 0, of_u = 0, of_before = 0;

  constexpr bool begin() {
    const double norm = scalars.norms[step], length = std::sqrt(norm);
    if (!(norm > 0)) return true;  // all vectors from here on are 0
    of_w = static_cast<real_t<T>>(1 / length);
    of_u = static_cast<real_t<T>>(real(*curvature) / norm / length);
    if (step > 0) of_before = static_cast<real_t<T>>(length / std::sqrt(scalars.norms[step - 1]));
    return true;
  }
  constexpr double entry(std::int64_t i) const {
    const real_t<T> inverse_i = inverse[i];
    const T next = scaled(w[i], inverse_i * of_w) - scaled(u[i], of_u) - scaled(before[i], of_before);
    before[i] = next;
    return squared_over(next, inverse_i);
  }
  constexpr void finish(double sum) const {
    scalars.curvatures[step] = real(*curvature);
    scalars.norms[step + 1] = sum;
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct SpectrumPasses {
  static constexpr auto list = passes<Where, BoundRows<T, Offset>, StartLanczos<T>, LanczosStep<T>>;
};
template <class Where>
struct RitzPasses {
  static constexpr auto list = passes<Where, FindRitz, TakeRitz>;
};

}  // namespace krill::detail
