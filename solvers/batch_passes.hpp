// The passes of a batch: norms system by system, and steps of some systems. Systems lie one after the other, so entry i
// is system i / rows.
#pragma once
#include "solvers/krylov_passes.hpp"

namespace krill::detail {

/// A sum of squares that neither overflows nor vanishes: greatest^2 sum. NaN stays NaN.
struct ScaledSquares {
  double greatest = 0, sum = 0;

  /// Adds `times` squares of `size`.
  constexpr void add(double size, double times = 1) {
    if (size == 0) return;
    const bool fits = size <= greatest;
    const double ratio = fits ? size / greatest : greatest / size;
    sum = fits ? sum + ratio * ratio * times : times + ratio * ratio * sum;
    if (!fits) greatest = size;
  }
  constexpr double norm() const { return greatest * square_root(sum); }
};

constexpr double magnitude_of(double a) { return a < 0 ? -a : a; }

/// The squares of a part of each system: parts[j * count + p] of system j. Moves n values.
template <class T>
struct MeasureParts {
  using Sum = NoSum;
  const T* v;
  ScaledSquares* parts;
  std::int64_t rows, count;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    const std::int64_t j = k / count, p = k % count;
    ScaledSquares squares;
    for (std::int64_t i = p * rows / count; i < (p + 1) * rows / count; ++i) {
      const T a = v[j * rows + i];
      if constexpr (is_complex<T>)
        squares.add(magnitude_of(a.re)), squares.add(magnitude_of(a.im));
      else
        squares.add(magnitude_of(a));
    }
    return parts[k] = squares, NoSum{};
  }
};

/// norms[j] = the norm of system j from its parts.
struct MergeParts {
  using Sum = NoSum;
  const ScaledSquares* parts;
  double* norms;
  std::int64_t count;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t j) const {
    ScaledSquares all;
    for (std::int64_t p = j * count; p < (j + 1) * count; ++p) all.add(parts[p].greatest, parts[p].sum);
    return norms[j] = all.norm(), NoSum{};
  }
};

/// Each system in the solver's own arrays, scaled so that its ||b|| is near 1, as ImportSystem does it. Moves 4 n
/// values.
template <class T>
struct ImportSystems {
  using Sum = NoSum;
  const double* rhs_norms;
  const T *b, *x;
  T *own_b, *own_x;
  std::int64_t rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const double norm = rhs_norms[i / rows], scale = scale_of(norm);
    own_b[i] = ImportSystem<T>::scaled_wide(b[i], scale);
    own_x[i] = norm == 0 ? T(0) : ImportSystem<T>::scaled_wide(x[i], scale);
    return {};
  }
};

/// z = x + z, as the caller's array will hold it; x where that is not finite, so that no product brings a system's NaN
/// into another one by way of a stored zero. Moves 3 n values.
template <class T>
struct StepSystems {
  using Sum = NoSum;
  const double* rhs_norms;
  const T* x;
  T* z;
  std::int64_t rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const double scale = scale_of(rhs_norms[i / rows]);
    const T exported = ImportSystem<T>::scaled_wide(x[i] + z[i], 1 / scale);
    const T stepped = ImportSystem<T>::scaled_wide(exported, scale), difference = stepped - stepped;
    z[i] = difference == T(0) ? stepped : x[i];
    return {};
  }
};

/// x = z and r = s of the systems that are better off so. Moves up to 4 n values.
template <class T>
struct AcceptSystems {
  using Sum = NoSum;
  const std::int32_t* accepted;
  const T *z, *s;
  T *x, *r;
  std::int64_t rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    if (accepted[i / rows]) x[i] = z[i], r[i] = s[i];
    return {};
  }
};

/// The solutions of the systems that are not better off with their guess, in the caller's array. Moves up to 2 n
/// values.
template <class T>
struct ExportSystems {
  using Sum = NoSum;
  const double* rhs_norms;
  const std::int32_t* accepted;
  const T* own_x;
  T* x;
  std::int64_t rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t j = i / rows;
    if (accepted[j]) x[i] = ImportSystem<T>::scaled_wide(own_x[i], 1 / scale_of(rhs_norms[j]));
    return {};
  }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct BatchPasses {
  static constexpr auto list =
      passes<Where, MergeParts, MeasureParts<T>, ImportSystems<T>, StepSystems<T>, AcceptSystems<T>, ExportSystems<T>>;
};

}  // namespace krill::detail
