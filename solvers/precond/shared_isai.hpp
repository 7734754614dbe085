// An incomplete sparse approximate inverse whose rows several ranks share.
#pragma once
#include "solvers/operator.hpp"
#include "solvers/precond/isai.hpp"
#include "solvers/preconditioner.hpp"

namespace krill {

/// As preconditioner isai of A, where each of the ranks has all of A: the inverse is made whole on every rank, which
/// keeps its own rows. All ranks take part in applications. Raises InvalidArgument as that one does, and TeamFailure.
/// Takes no new values, and has no adjoint.
template <class T>
std::unique_ptr<Preconditioner<T>> make_shared_isai(Context&, const IsaiOptions&, const AnyMatrix<T>& A,
                                                    const RowShare&);

}  // namespace krill
