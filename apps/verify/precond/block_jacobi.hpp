// The inverses of diagonal blocks.
#pragma once
#include <algorithm>

#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/block_jacobi.hpp"

namespace krill::apps::verify {

inline Judging judging(const BlockJacobiOptions&) { return {}; }

/// The inverse by Gauss and Jordan with partial pivoting, times r.
template <class T>
void solve_block(const Question<T>& q, std::int32_t first, std::int32_t dim, BoundedVector<T>& z) {
  const std::size_t n = as_size(dim);
  std::vector<BoundedVector<T>> a(n, BoundedVector<T>(2 * n));
  for (std::int32_t i = 0; i < dim; ++i) {
    for (std::int32_t j = 0; j < dim; ++j) a[as_size(i)][as_size(j)] = entry(q.A, first + i, first + j);
    a[as_size(i)][n + as_size(i)] = Bounded<T>(T(1));
  }
  for (std::size_t k = 0; k < n; ++k) {
    const auto pivot = std::max_element(a.begin() + static_cast<std::ptrdiff_t>(k), a.end(),
                                        [&](auto& x, auto& y) { return modulus(x[k].value) < modulus(y[k].value); });
    std::swap(a[k], *pivot);
    const Bounded<T> diagonal = a[k][k];
    for (Bounded<T>& value : a[k]) value = quotient(value, diagonal);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Bounded<T> multiple = a[i][k];
      for (std::size_t j = 0; j < 2 * n; ++j)
        a[i][j] = BoundedSum<T>().add(a[i][j]).subtract(multiple, a[k][j]).result();
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    BoundedSum<T> sum;
    for (std::size_t j = 0; j < n; ++j) sum.add(a[i][n + j], q.r[as_size(first) + j]);
    z[as_size(first) + i] = sum.result();
  }
}

template <class T>
BoundedVector<T> reference(const BlockJacobiOptions&, const Question<T>& q) {
  const auto dim = static_cast<std::int32_t>(fact<std::int64_t>(q.report, "block_dim"));
  BoundedVector<T> z(q.r.size());
  for (std::int32_t first = 0; first < q.A.rows; first += dim)
    solve_block(q, first, std::min(dim, q.A.rows - first), z);
  return z;
}

}  // namespace krill::apps::verify
