// What to go on to where a method fails.
#pragma once
#include <string>
#include <vector>

#include "solvers/method/options.hpp"
#include "sparse/io/analyze.hpp"

namespace krill {

/// A method to go on to.
struct LadderStep {
  std::string why;  ///< what is new about it, a clause
  SolveOptions method;
  bool for_definite = false;  ///< no use where the matrix has turned out not to be definite
  bool in_double = false;     ///< of a solve in single precision: x is computed in double, and rounded
};

/// The steps after `failed`, the cheapest first: for what may be definite, ict with more and more fill; for saddle
/// points, schur; matching or scaling with ilu0; ilut with pivoting and more and more fill, by gmres and by bicgstab;
/// for single precision, double; a direct solve. What `failed` is itself is left out. Limits are those of its solver,
/// iterations 2000 at most. From what the entries show alone; O(1). Empty for a batch.
std::vector<LadderStep> ladder(const SolveOptions& failed, const MatrixProperties&, bool single);

}  // namespace krill
