// Approximate triangular solves as textbooks have them.
#pragma once
#include "krill/apps/verify/references.hpp"
#include "krill/sparse/triangular/approximate.hpp"

namespace krill::apps::verify {

/// op(T)^-1 alpha b, approximately: `stored` is T as triangle_of() hands it over without its op.
template <class T>
BoundedVector<T> solve_approximately(const Rows<T>& stored, const Triangle&, const ApproximateOptions&, const T& alpha,
                                     const BoundedVector<T>& b);

}  // namespace krill::apps::verify
