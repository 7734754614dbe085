// The 5-point Laplacian on an n x n grid as a pass: what happens to entry i, in one source for both backends.
#pragma once
#include <krill/sparse/core/pass.hpp>

/// y = A x: (A x)_i = 4 x_i minus the neighbors of grid point i. Moves 2 n^2 values.
struct LaplacianProduct {
  using Sum = krill::NoSum;
  std::int64_t n;
  const double* x;
  double* y;

  constexpr bool begin() { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const std::int64_t column = i % n, row = i / n;
    double sum = 4 * x[i];
    if (column > 0) sum -= x[i - 1];
    if (column + 1 < n) sum -= x[i + 1];
    if (row > 0) sum -= x[i - n];
    if (row + 1 < n) sum -= x[i + n];
    y[i] = sum;
    return {};
  }
};
