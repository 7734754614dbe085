// Dense matrices of the judge's own, for what a preconditioner has to be.
#pragma once
#include <utility>

#include "tests/support/oracle.hpp"

namespace krill::test {

/// A square matrix by rows.
struct DenseZ {
  std::int64_t n;
  std::vector<Z> entries = std::vector<Z>(static_cast<std::size_t>(n * n));

  Z& operator()(std::int64_t i, std::int64_t j) { return entries[static_cast<std::size_t>(i * n + j)]; }
  Z operator()(std::int64_t i, std::int64_t j) const { return entries[static_cast<std::size_t>(i * n + j)]; }
};

inline DenseZ dense(const Reference& A) {
  DenseZ d{A.rows};
  for (std::size_t k = 0; k < A.value.size(); ++k) d(A.row[k], A.col[k]) += A.value[k];
  return d;
}

/// The entries that `wanted(i, j)` takes.
template <class F>
DenseZ part(const DenseZ& A, F&& wanted) {
  DenseZ d{A.n};
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j)
      if (wanted(i, j)) d(i, j) = A(i, j);
  return d;
}

inline DenseZ operator*(const DenseZ& A, const DenseZ& B) {
  DenseZ C{A.n};
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t k = 0; k < A.n; ++k)
      if (A(i, k) != 0.0)
        for (std::int64_t j = 0; j < A.n; ++j) C(i, j) += A(i, k) * B(k, j);
  return C;
}

/// factor A + B.
inline DenseZ sum(DenseZ A, double factor, const DenseZ& B) {
  for (std::size_t k = 0; k < A.entries.size(); ++k) A.entries[k] = factor * A.entries[k] + B.entries[k];
  return A;
}

inline DenseZ absolute(DenseZ A) {
  for (Z& entry : A.entries) entry = std::abs(entry);
  return A;
}

/// By Gauss-Jordan elimination without pivoting, for dominant diagonals.
inline DenseZ inverse(DenseZ A) {
  for (std::int64_t k = 0; k < A.n; ++k) {
    const Z pivot = A(k, k);
    A(k, k) = 1;
    for (std::int64_t j = 0; j < A.n; ++j) A(k, j) /= pivot;
    for (std::int64_t i = 0; i < A.n; ++i) {
      if (i == k) continue;
      const Z factor = std::exchange(A(i, k), 0);
      for (std::int64_t j = 0; j < A.n; ++j) A(i, j) -= factor * A(k, j);
    }
  }
  return A;
}

inline Reference sparse(const DenseZ& A) {
  Reference r{A.n, A.n, {}, {}, {}};
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j)
      if (A(i, j) != 0.0)
        r.row.push_back(static_cast<std::int32_t>(i)), r.col.push_back(static_cast<std::int32_t>(j)),
            r.value.push_back(A(i, j));
  return r;
}

}  // namespace krill::test
