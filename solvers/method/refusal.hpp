// What a solve refuses, and the sentence that says why.
#pragma once
#include <string>

#include "solvers/method/options.hpp"
#include "sparse/io/analyze.hpp"

namespace krill {

/// Raises InvalidArgument where no solver can do anything with the matrix: not square, without entries, or with one
/// that is not finite. `matrix` is what messages call it.
void require_solvable(const std::string& matrix, const MatrixProperties&);

/// Raises InvalidArgument where the solver is pcg and the matrix shows that it is not for it: an entry that
/// differs from its mirror image's conjugate by more than sqrt(eps) of the largest entry, a diagonal entry that is not
/// real and positive, or two rows that prove indefiniteness. Nothing is raised with `assume: spd`.
template <class T>
void require_suitable(const std::string& matrix, const SolveOptions&, const AnyMatrix<T>& A, const MatrixProperties&);

}  // namespace krill
