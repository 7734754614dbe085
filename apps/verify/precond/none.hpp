// No preconditioner.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/none.hpp"

namespace krill::apps::verify {

inline Judging judging(const NoPreconditioner&) { return {}; }

template <class T>
BoundedVector<T> reference(const NoPreconditioner&, const Question<T>& q) {
  return q.r;
}

/// Never made.
inline Judging judging(const AutoPreconditioner&) { return {}; }

template <class T>
BoundedVector<T> reference(const AutoPreconditioner&, const Question<T>&) {
  throw InvalidArgument("preconditioner auto: nobody has chosen a preconditioner; name one");
}

}  // namespace krill::apps::verify
