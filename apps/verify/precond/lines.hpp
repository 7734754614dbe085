// Solves with tridiagonal parts of A.
#pragma once
#include <algorithm>
#include <limits>

#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/line.hpp"
#include "solvers/precond/tridiagonal.hpp"

namespace krill::apps::verify {

inline Judging judging(const TridiagonalOptions&) { return {}; }
inline Judging judging(const LineOptions&) { return {}; }

/// The rows first, first + step, ... of A, as many as `length`, and what of A lies on three diagonals of these.
template <class T>
struct Line {
  std::vector<Exact<T>> below, on, above;

  Line(const Rows<T>& A, std::int32_t first, std::int32_t step, std::int32_t length) {
    for (std::int32_t i = 0; i < length; ++i) {
      const std::int32_t row = first + i * step;
      below.push_back(i > 0 ? exact(A.at(row, row - step)) : Exact<T>(0));
      on.push_back(exact(A.at(row, row)));
      above.push_back(i + 1 < length ? exact(A.at(row, row + step)) : Exact<T>(0));
    }
  }
  std::size_t size() const { return on.size(); }

  /// By elimination with partial pivoting, in extended precision.
  std::vector<Exact<T>> solve(std::vector<Exact<T>> x) const {
    const std::size_t n = size();
    std::vector<Exact<T>> pivot = on, next = above, after(n), lower = below;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (modulus(lower[i + 1]) > modulus(pivot[i])) {
        std::swap(pivot[i], lower[i + 1]), std::swap(next[i], pivot[i + 1]), std::swap(after[i], next[i + 1]);
        std::swap(x[i], x[i + 1]);
      }
      const Exact<T> factor = lower[i + 1] / pivot[i];
      pivot[i + 1] -= factor * next[i], next[i + 1] -= factor * after[i], x[i + 1] -= factor * x[i];
    }
    for (std::size_t i = n; i-- > 0;) {
      if (i + 1 < n) x[i] -= next[i] * x[i + 1];
      if (i + 2 < n) x[i] -= after[i] * x[i + 2];
      x[i] = x[i] / pivot[i];
    }
    return x;
  }

  /// v with <T> v = w, T's comparison matrix: |T^-1| w <= v where that is an M-matrix, as all its pivots being positive
  /// shows (Higham 2002, section 8.3). Infinite where it is none.
  std::vector<long double> bound_of_inverse(std::vector<long double> w) const {
    const std::size_t n = size();
    std::vector<long double> pivot(n);
    bool known = true;
    for (std::size_t i = 0; i < n; ++i) {
      const long double factor = i > 0 ? modulus(below[i]) / pivot[i - 1] : 0;
      pivot[i] = modulus(on[i]) - (i > 0 ? factor * modulus(above[i - 1]) : 0);
      if (i > 0) w[i] += factor * w[i - 1];
      known = known && pivot[i] > 0;
    }
    if (!known) return std::vector<long double>(n, std::numeric_limits<long double>::infinity());
    for (std::size_t i = n; i-- > 0;) w[i] = (w[i] + (i + 1 < n ? modulus(above[i]) * w[i + 1] : 0)) / pivot[i];
    return w;
  }

  /// How far from it a computed solution may be. Elimination in any order has a residual of at most
  /// gamma_k (|T| |x| + |r|) (Higham 2002, theorem 9.14, for dominant rows), of all rows together where it has to pivot
  /// (theorem 9.3); k = 100, as an equation meets no more than 15 others on a level of a divided system, which add two
  /// roundings each.
  std::vector<long double> error(const std::vector<Exact<T>>& x, const std::vector<long double>& r,
                                 bool pivoted) const {
    std::vector<long double> residual(size());
    for (std::size_t i = 0; i < size(); ++i)
      residual[i] =
          gamma<T>(100) * (r[i] + modulus(on[i]) * modulus(x[i]) + (i > 0 ? modulus(below[i]) * modulus(x[i - 1]) : 0) +
                           (i + 1 < size() ? modulus(above[i]) * modulus(x[i + 1]) : 0));
    if (pivoted) std::ranges::fill(residual, *std::ranges::max_element(residual));
    return bound_of_inverse(residual);
  }
};

/// z += T^-1 r for all lines of `length` rows that are `step` apart.
template <class T>
void solve_lines(const Question<T>& q, std::int32_t step, std::int32_t length, bool pivoted, BoundedVector<T>& z) {
  for (std::int32_t first = 0; first < q.A.rows; ++first) {
    if (first / step % length != 0) continue;
    const Line<T> line(q.A, first, step, length);
    std::vector<Exact<T>> x;
    std::vector<long double> sizes;
    for (std::int32_t i = 0; i < length; ++i) {
      const Bounded<T>& r = q.r[as_size(first + i * step)];
      x.push_back(r.value), sizes.push_back(r.greatest());
    }
    x = line.solve(std::move(x));
    const auto errors = line.error(x, sizes, pivoted);
    for (std::int32_t i = 0; i < length; ++i) {
      Bounded<T>& sum = z[as_size(first + i * step)];
      const Exact<T> value = sum.value + x[as_size(i)];
      sum = {value, sum.error + errors[as_size(i)] + gamma<T>(1) * modulus(value)};
    }
  }
}

template <class T>
BoundedVector<T> reference(const TridiagonalOptions&, const Question<T>& q) {
  BoundedVector<T> z(q.r.size());
  solve_lines(q, 1, q.A.rows, fact<std::string>(q.report, "method") != "thomas", z);
  return z;
}

template <class T>
BoundedVector<T> reference(const LineOptions& o, const Question<T>& q) {
  BoundedVector<T> z(q.r.size());
  const std::int32_t points[] = {o.nx, std::max(o.ny, 1), std::max(o.nz, 1)};
  const bool pivoted = fact<std::string>(q.report, "method") != "thomas";
  for (const char direction : fact<std::string>(q.report, "direction")) {
    if (direction == 'x') solve_lines(q, 1, points[0], pivoted, z);
    if (direction == 'y') solve_lines(q, points[0], points[1], pivoted, z);
    if (direction == 'z') solve_lines(q, points[0] * points[1], points[2], pivoted, z);
  }
  return z;
}

}  // namespace krill::apps::verify
