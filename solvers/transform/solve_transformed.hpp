// A solve by way of a transformed system, judged by the original one.
#pragma once
#include <span>

#include "solvers/solver.hpp"
#include "solvers/transform/transformation.hpp"

namespace krill {

/// Solves the original system by way of the transformed one: `A` and `M` are of the latter, `original` is the matrix of
/// the former, which is needed (and multiplied with) only where the transformation scales. The report's norms, target
/// and reason are those of the original system: it has converged if and only if ||b - original x|| says so, computed
/// anew. Where the scaled system has reached its target and the original one has not, the solve goes on to a smaller
/// target, as long as each time at least halves the residual; then it has stagnated. The history and the recurrence's
/// residual are those of the scaled system. Iterations count together.
template <class T>
SolveReport solve_transformed(Context&, const SolverOptions&, const Operator<T>& A, const Preconditioner<T>& M,
                              const Transformation<T>&, const AnyMatrix<T>* original, const Array<T>& b, Array<T>& x,
                              std::size_t& solver_bytes, const Watch&);

/// ||v|| without overflow or underflow on the way.
template <class T>
double norm(std::span<const T> v);

}  // namespace krill
