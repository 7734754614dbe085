// Approximate solves with triangles.
#pragma once
#include "apps/verify/references/rows.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill::apps::verify {

/// op(T)^-1 alpha b by Jacobi's sweeps: x = D^-1 alpha b, then steps - 1 times x = D^-1 (alpha b - N x), D the diagonal
/// and N the rest.
template <class T>
BoundedVector<T> solve_by_sweeps(const Rows<T>& A, const Triangle&, int steps, const T& alpha,
                                 const BoundedVector<T>& b);

/// op(T)^-1 alpha b by op(M) alpha b, M the matrix in the pattern of T for which M T is the identity there; then
/// `corrections` times x = x + op(M) (alpha b - op(T) x).
template <class T>
BoundedVector<T> solve_by_inverse(const Rows<T>& A, const Triangle&, int corrections, const T& alpha,
                                  const BoundedVector<T>& b);

}  // namespace krill::apps::verify
