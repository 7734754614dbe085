// Gauss-Seidel sweeps.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/gauss_seidel.hpp"

namespace krill::apps::verify {

inline Judging judging(const GaussSeidelOptions& o) {
  Judging j{.method = o.triangular_solve};
  if (o.direction != SweepDirection::backward) j.triangles.push_back({Fill::lower});
  if (o.direction != SweepDirection::forward) j.triangles.push_back({Fill::upper});
  return j;
}

/// (2 - omega) (I + omega D^-1 U)^-1 (D / omega + L)^-1 r (Axelsson 1972).
template <class T>
BoundedVector<T> symmetric_sweep(const Question<T>& q, double omega) {
  Rows<Bounded<T>> split{q.A.rows, q.A.cols, q.A.offsets, q.A.col, {}};
  for (std::int32_t i = 0; i < q.A.rows; ++i)
    for (std::size_t k = q.A.begin(i); k < q.A.end(i); ++k) {
      const Bounded<T> a(q.A.value[k]);
      split.value.push_back(q.A.col[k] < i    ? a
                            : q.A.col[k] == i ? quotient(a, factor<T>(omega))
                                              : times(factor<T>(omega), quotient(a, entry(q.A, i, i))));
    }
  const BoundedVector<T> y = substitute(triangle_of(split, {Fill::lower}), Fill::lower, T(1), q.r);
  const auto weight = static_cast<real_t<T>>(2 - omega);
  return substitute(triangle_of(split, {Fill::upper, Diagonal::unit}), Fill::upper, T(weight), y);
}

template <class T>
BoundedVector<T> reference(const GaussSeidelOptions& o, const Question<T>& q) {
  if (o.direction == SweepDirection::symmetric) return symmetric_sweep(q, 1);
  const Triangle triangle{o.direction == SweepDirection::forward ? Fill::lower : Fill::upper};
  return substitute(triangle_of(q.A, triangle), triangle.fill, T(1), q.r);
}

}  // namespace krill::apps::verify
