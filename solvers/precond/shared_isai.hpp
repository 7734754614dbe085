// An incomplete sparse approximate inverse whose rows several ranks share.
#pragma once
#include "solvers/operator.hpp"
#include "solvers/precond/isai.hpp"
#include "solvers/preconditioner.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// As preconditioner isai of the matrix of which `rows` are this rank's: each makes its own rows of the inverse, the
/// same as one process makes, from these and the rows of others that their systems need, which it imports; of G^H it
/// gets what others have made. All ranks take part, in applications, too. Raises InvalidArgument as that one does, with
/// rows of the whole matrix, and TeamFailure. Takes no new values, and has no adjoint.
template <class T>
std::unique_ptr<Preconditioner<T>> make_shared_isai(Context&, const IsaiOptions&, const RowSlice<T>& rows,
                                                    const RowShare&);

}  // namespace krill
