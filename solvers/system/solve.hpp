// The door of a whole solve: from A, b and options to x and a report.
#pragma once
#include "solvers/system/stages.hpp"

namespace krill {

/// What solve() reports.
struct SystemReport : SolveFacts {
  SolveOptions options;  ///< as given, with what was auto chosen
};

/// A x = b as `krill solve` solves it: looks at the entries of A, chooses what the options leave open (all of it,
/// unless they say otherwise), scales and reorders the system, brings it into the format of the products, makes the
/// preconditioner, solves, goes on until the system as it was given meets the target, and brings x back. A in CSR is
/// used in place as far as nothing changes it; other formats are brought into CSR first. x: initial guess in, solution
/// out; where the solve does not converge, the better of the iterate and the guess. How it ended is
/// `SystemReport::result.reason`, never an exception.
/// b and x may hold several right-hand sides and solutions, one after the other: one set-up serves all, and
/// `SystemReport::columns` tells of each. Who has them one at a time makes a SystemSolver (stages.hpp), and keeps it.
/// Looks at A on the host, waits.
/// Raises ShapeMismatch where b or x is no multiple of the length of A; InvalidArgument, which names the entry, where A
/// is not square, has no entries or one that is not finite, where it is plainly not for pcg and the options ask for it
/// without `Assume::spd`, and where it does not allow a scaling or preconditioner that the options name.
template <class T>
SystemReport solve(Context&, const AnyMatrix<T>& A, const Array<T>& b, Array<T>& x, const SolveOptions& options = {},
                   const Watch& watch = {});

}  // namespace krill
