// Products of a matrix with a vector.
#pragma once
#include "apps/verify/references/rows.hpp"

namespace krill::apps::verify {

/// A x with a matrix of bounded numbers or not.
template <class T, class V>
BoundedVector<T> product(const Rows<V>& A, const BoundedVector<T>& x) {
  BoundedVector<T> y(as_size(A.rows));
  for (std::int32_t i = 0; i < A.rows; ++i) {
    BoundedSum<T> sum;
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) sum.add(A.value[k], x[as_size(A.col[k])]);
    y[as_size(i)] = sum.result();
  }
  return y;
}

/// alpha op(A) x + beta y; beta = 0 does not look at y.
template <class T>
BoundedVector<T> product(Op op, const T& alpha, const Rows<T>& A, const BoundedVector<T>& x, const T& beta,
                         const BoundedVector<T>& y) {
  BoundedVector<T> result = product<T, T>(transposed(A, op), x);
  for (std::size_t i = 0; i < result.size(); ++i) {
    BoundedSum<T> sum;
    sum.add(Bounded<T>(alpha), result[i]);
    if (beta != T(0)) sum.add(Bounded<T>(beta), y[i]);
    result[i] = sum.result();
  }
  return result;
}

/// b - A x.
template <class T, class V>
BoundedVector<T> residual(const Rows<V>& A, const BoundedVector<T>& b, const BoundedVector<T>& x) {
  BoundedVector<T> r(as_size(A.rows));
  for (std::int32_t i = 0; i < A.rows; ++i) {
    BoundedSum<T> sum;
    sum.add(b[as_size(i)]);
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) sum.subtract(A.value[k], x[as_size(A.col[k])]);
    r[as_size(i)] = sum.result();
  }
  return r;
}

}  // namespace krill::apps::verify
