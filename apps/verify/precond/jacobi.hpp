// The inverse of the diagonal.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/jacobi.hpp"

namespace krill::apps::verify {

inline Judging judging(const JacobiOptions&) { return {}; }

template <class T>
BoundedVector<T> reference(const JacobiOptions&, const Question<T>& q) {
  BoundedVector<T> z(q.r.size());
  for (std::int32_t i = 0; i < q.A.rows; ++i) z[as_size(i)] = quotient(q.r[as_size(i)], entry(q.A, i, i));
  return z;
}

}  // namespace krill::apps::verify
