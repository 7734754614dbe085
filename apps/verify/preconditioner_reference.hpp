// What a preconditioner should make of a residual.
#pragma once
#include <optional>

#include "krill/apps/verify/references.hpp"
#include "krill/solvers/precond/preconditioner.hpp"

namespace krill::apps::verify {

/// z = M r by the definition of the preconditioner, one entry after the other. What it found out about A (blocks, an
/// interval of eigenvalues, a shift) is taken from its report; an incomplete factor is the library's own, which has a
/// check of its own.
template <class T>
BoundedVector<T> preconditioned(Context&, const PreconditionerOptions&, const AnyMatrix<T>& A,
                                const PreconditionerReport&, const BoundedVector<T>& r);

}  // namespace krill::apps::verify
