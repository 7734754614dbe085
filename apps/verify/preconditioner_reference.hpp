// What a preconditioner should make of a residual.
#pragma once
#include "apps/verify/precond/reference.hpp"

namespace krill::apps::verify {

Judging judging_of(const PreconditionerOptions&);

/// z = M r by the definition of the preconditioner, one entry after the other.
template <class T>
BoundedVector<T> preconditioned(Context&, const PreconditionerOptions&, const AnyMatrix<T>& A,
                                const PreconditionerReport&, const BoundedVector<T>& r);

}  // namespace krill::apps::verify
