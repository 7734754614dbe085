// Symmetric successive overrelaxation.
#pragma once
#include "apps/verify/precond/gauss_seidel.hpp"
#include "solvers/precond/ssor.hpp"

namespace krill::apps::verify {

inline Judging judging(const SsorOptions& o) {
  return {.triangles = {{Fill::lower}, {Fill::upper}}, .method = o.triangular_solve};
}

template <class T>
BoundedVector<T> reference(const SsorOptions& o, const Question<T>& q) {
  return symmetric_sweep(q, o.omega);
}

}  // namespace krill::apps::verify
