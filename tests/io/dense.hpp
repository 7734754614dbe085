// Small matrices in full, and what can be computed of them by hand.
#pragma once
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "sparse/io/generate.hpp"
#include "tests/support/oracle.hpp"

namespace krill::test {

using Vector = std::vector<Z>;
inline constexpr double eps = std::numeric_limits<double>::epsilon();

template <class T = double>
Reference made(const GeneratorOptions& options) {
  return reference(std::get<Csr<T>>(generate<T>(options)));
}

/// Rows as lists of full length.
inline std::vector<Vector> dense(const Reference& A) {
  std::vector<Vector> rows(static_cast<std::size_t>(A.rows), Vector(static_cast<std::size_t>(A.cols)));
  for (std::size_t k = 0; k < A.value.size(); ++k)
    rows[static_cast<std::size_t>(A.row[k])][static_cast<std::size_t>(A.col[k])] += A.value[k];
  return rows;
}

inline Vector times(const Reference& A, const Vector& x) {
  Vector y(static_cast<std::size_t>(A.rows));
  for (std::size_t k = 0; k < A.value.size(); ++k)
    y[static_cast<std::size_t>(A.row[k])] += A.value[k] * x[static_cast<std::size_t>(A.col[k])];
  return y;
}

/// Pivots of the Cholesky factorization with the greatest diagonal entry first; it ends where none exceeds the rounding
/// of the first one. Their number is the rank of a positive semidefinite matrix.
inline int positive_pivots(std::vector<Vector> A) {
  const std::size_t n = A.size();
  double greatest = 0;
  for (std::size_t i = 0; i < n; ++i) greatest = std::max(greatest, A[i][i].real());
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t p = step;
    for (std::size_t i = step; i < n; ++i)
      if (A[i][i].real() > A[p][p].real()) p = i;
    if (!(A[p][p].real() > static_cast<double>(n) * eps * greatest)) return static_cast<int>(step);
    std::swap(A[p], A[step]);
    for (auto& row : A) std::swap(row[p], row[step]);
    for (std::size_t i = step + 1; i < n; ++i) {
      const Z factor = A[i][step] / A[step][step];
      for (std::size_t j = step; j < n; ++j) A[i][j] -= factor * A[step][j];
    }
  }
  return static_cast<int>(n);
}

inline bool positive_definite(const Reference& A) { return positive_pivots(dense(A)) == A.rows; }

inline bool exactly_hermitian(const Reference& A) {
  const auto a = dense(A);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      if (a[i][j] != std::conj(a[j][i])) return false;
  return true;
}

}  // namespace krill::test
