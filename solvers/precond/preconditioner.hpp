// How preconditioners are made.
#pragma once
#include <memory>

#include "solvers/precond/options.hpp"
#include "solvers/preconditioner.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

template <class T>
class Operator;

/// products: the operator of A, for preconditioners that multiply with it; null: they make one. coordinates: of nodes,
/// a row for each, whose unknowns follow each other in A; null: not known.
template <class T>
struct PreconditionerInput {
  const AnyMatrix<T>& A;
  const Operator<T>* products = nullptr;
  const Dense<double>* coordinates = nullptr;
};

/// Builds the preconditioner that `options` names for A, which must outlive it: Chebyshev multiplies with A, through
/// `products` where that is given (it must outlive the preconditioner, too), else through an operator of its own. The
/// others do not refer to A afterwards. Raises InvalidArgument that names row and value where A does not allow it: a
/// diagonal entry, a block or a pivot that is missing, zero, not finite, or where A has to be positive definite, not
/// positive; an IC(0) shift that would have to be larger than those that its options allow.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A, const Operator<T>* products = nullptr,
                                                       const Dense<double>* coordinates = nullptr);
/// The memory that it takes when it is given `products`, or where `with_products` is false, is not. A: as it will be,
/// on the host. Raises InvalidArgument where A has values beyond the range of the precision.
template <class T>
HeldMemory preconditioner_memory(MemoryLedger&, Context& host, const PreconditionerOptions&, const AnyMatrix<T>& A,
                                 const Dense<double>* coordinates = nullptr, bool with_products = true);

/// Not for a temporary, which would not outlive the preconditioner.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions&, const AnyMatrix<T>&& A,
                                                       const Operator<T>* = nullptr,
                                                       const Dense<double>* = nullptr) = delete;

}  // namespace krill
