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
/// real and positive, or two rows that prove indefiniteness; with scaling `negative` the same of -A. Nothing is raised
/// with `assume: spd`. Also where a matching or an ordering would move the rows of a preconditioner that takes them for
/// the points of a grid.
void require_suitable(const std::string& matrix, const SolveOptions&, const MatrixProperties&);

/// What the entries of A, and b, say against a solution.
struct Singularity {
  std::string what;          ///< why A is singular: a sentence without its end; empty where nothing says so
  bool no_solution = false;  ///< no x brings the residual down to the target
};

/// A structural rank below the number of rows, which names rows and columns; rows that add up to 0. No solution: b has
/// an entry where A has an empty row, or, where columns add up to 0 as well, a part along (1, ..., 1) that is longer
/// than the target of `stop` with the baseline ||b||. Of several right-hand sides, one after the other, the first that
/// has no solution. O(n) for each.
template <class T>
Singularity singularity(const MatrixProperties&, const Array<T>& b, const StopOptions& stop);

}  // namespace krill
