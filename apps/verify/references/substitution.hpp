// Solves with triangles, by substitution.
#pragma once
#include "apps/verify/references/rows.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill::apps::verify {

/// The triangle's entries alone, as op(A), ones on the diagonal where it says so, zeros where none is stored.
template <class V>
Rows<V> triangle_of(const Rows<V>& A, const Triangle& triangle) {
  Rows<V> kept{A.rows, A.cols, {0}, {}, {}};
  const auto keep = [&](std::int32_t j, const V& value) { kept.col.push_back(j), kept.value.push_back(value); };
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const V diagonal = triangle.diagonal == Diagonal::unit ? V(1) : A.at(i, i);
    if (triangle.fill == Fill::upper) keep(i, diagonal);
    for (std::size_t k = A.begin(i); k < A.end(i); ++k)
      if (triangle.fill == Fill::lower ? A.col[k] < i : A.col[k] > i) keep(A.col[k], A.value[k]);
    if (triangle.fill == Fill::lower) keep(i, diagonal);
    kept.offsets.push_back(kept.col.size());
  }
  return transposed(kept, triangle.op);
}

/// T x = alpha b, `triangle` as triangle_of() hands it over: a lower one from the first row to the last, an upper one
/// from the last to the first.
template <class T, class V>
BoundedVector<T> substitute(const Rows<V>& triangle, Fill solved, const T& alpha, const BoundedVector<T>& b) {
  BoundedVector<T> x(b.size());
  const auto solve_row = [&](std::int32_t i) {
    BoundedSum<T> sum;
    sum.add(Bounded<T>(alpha), b[as_size(i)]);
    Bounded<T> pivot;
    for (std::size_t k = triangle.begin(i); k < triangle.end(i); ++k) {
      if (triangle.col[k] == i)
        pivot = Bounded<T>(triangle.value[k]);
      else
        sum.subtract(triangle.value[k], x[as_size(triangle.col[k])]);
    }
    x[as_size(i)] = pivot.value == Exact<T>(1) && pivot.error == 0 ? sum.result() : quotient(sum.result(), pivot);
  };
  if (solved == Fill::lower)
    for (std::int32_t i = 0; i < triangle.rows; ++i) solve_row(i);
  else
    for (std::int32_t i = triangle.rows; i-- > 0;) solve_row(i);
  return x;
}

/// T x and alpha b, whose distance needs no condition number: |alpha b - T x|_i is at most
/// gamma_(k + c) (|T| |x| + |alpha b|)_i with k the entries of row i and c the roundings of a quotient (Higham 2002,
/// theorem 8.5). b and x have as many entries as T has rows.
template <class T>
Equations<T> substitution_equations(const Rows<T>& triangle, const T& alpha, std::span<const T> b,
                                    std::span<const T> x) {
  Equations<T> equations;
  for (std::int32_t i = 0; i < triangle.rows; ++i) {
    Exact<T> sum{};
    const Exact<T> right = exact(alpha) * exact(b[as_size(i)]);
    long double size = modulus(right);
    for (std::size_t k = triangle.begin(i); k < triangle.end(i); ++k) {
      const Exact<T> term = exact(triangle.value[k]) * exact(x[as_size(triangle.col[k])]);
      sum += term;
      size += modulus(term);
    }
    const auto length = static_cast<std::int64_t>(triangle.end(i) - triangle.begin(i));
    equations.left.push_back(sum);
    equations.right.push_back({right, gamma<T>(length + 1 + quotient_roundings<T>) * size});
  }
  return equations;
}

}  // namespace krill::apps::verify
