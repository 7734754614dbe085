// Solves in parts of the rows of several ranks.
#pragma once
#include "solvers/operator.hpp"
#include "solvers/precond/schwarz.hpp"
#include "solvers/preconditioner.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// As preconditioner schwarz, each rank with `parts` parts of its own rows, whose diagonal block is `block`; where
/// parts overlap, they have rows beside them that are other ranks', which are imported, and of which an application
/// gets what r has there. All ranks take part in the set-up and, with an overlap or a coarse space, in applications.
/// Raises InvalidArgument as that one does, and TeamFailure. Takes no new values.
template <class T>
std::unique_ptr<Preconditioner<T>> make_shared_schwarz(Context&, const SchwarzOptions&, const RowSlice<T>& rows,
                                                       const AnyMatrix<T>& block, const RowShare&);

}  // namespace krill
