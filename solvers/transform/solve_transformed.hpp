// A solve by way of a transformed system, judged by the original one.
#pragma once
#include <memory>
#include <span>

#include "solvers/solver.hpp"
#include "solvers/transform/transformation.hpp"

namespace krill {

/// A system as it was given, in double precision, where the one at hand was rounded from it.
template <class T>
struct GivenSystem {
  std::shared_ptr<const AnyMatrix<wide_t<T>>> A;
  Array<wide_t<T>> b;
};

/// Solves the original system by way of the transformed one: `A` and `M` are of the latter, `original` is the matrix of
/// the former, which is needed (and multiplied with) only where the transformation scales. `given` is the system that
/// `original` and b were rounded from, null where nothing was rounded; it takes their place as a judge, on the host.
/// The report's norms, target and reason are those of the system that judges: it has converged if and only if
/// ||b - original x|| says so, computed anew. Where the system that is solved has reached its target and the judge's
/// has not, the solve goes on to a smaller target, as long as each time at least halves the residual; then it has
/// stagnated. The history and the recurrence's residual are those of the system that is solved. Iterations count
/// together. A batch is not transformed, and each of its systems is judged by what that was rounded from. Where several
/// ranks share A, each has all of b and x, and solves and preconditions its own rows.
template <class T>
SolveReport solve_transformed(Context&, const SolverOptions&, const Operator<T>& A, const Preconditioner<T>& M,
                              const Transformation<T>&, const AnyMatrix<T>* original, const GivenSystem<T>* given,
                              const Array<T>& b, Array<T>& x, std::size_t& solver_bytes, const Watch&);

/// ||v|| without overflow or underflow on the way.
template <class T>
double norm(std::span<const T> v);

}  // namespace krill
