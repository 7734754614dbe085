// How well a preconditioner does by itself.
#pragma once
#include "solvers/operator.hpp"
#include "solvers/preconditioner.hpp"

namespace krill {

/// By how much x := x + M (b - A x) reduces the error a step, once it has been taken for a while: the spectral radius
/// of I - M A where M is a matrix. From 1 on the steps do not converge by themselves; a Krylov method with M may.
///
/// By power iteration from a fixed random x: the geometric mean of the quotients of residuals in the second half of
/// `steps`, each of which takes a product with A and an application of M. Where A may be singular it ends earlier, once
/// the residual is so small that what rounding adds along the kernel would be measured. 0 where nothing is left of a
/// residual, infinity where it is not finite. Over the ranks of a team where A is. Waits in every step.
template <class T>
double contraction(Context&, const Operator<T>& A, const Preconditioner<T>& M, int steps, bool may_be_singular);

}  // namespace krill
