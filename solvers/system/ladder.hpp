// A solve that goes on to other methods where one fails.
#pragma once
#include "solvers/system/stages.hpp"

namespace krill {

/// The first method, then the steps of ladder() until one converges: each from the initial guess, with what is left of
/// the time limit of the first solver, which is that of the whole. A method that the matrix or the memory refuses is an
/// attempt, too; where no method could begin, what the first one raised is raised. In the end options, x and facts are
/// those of the method that converged, else of the one whose x has the least residual; facts.attempts has all, also
/// where there was but one. Where the last one was interrupted, the reason is interrupted. Where the first solve
/// converges, is interrupted or runs out of time, or b is known to have no solution, nothing else is tried; where it
/// ends at the limit of accuracy, only double precision and a direct solve are. Several right-hand sides are solved by
/// the first method alone, and where it fails a note says so.
template <class T>
void climb(Context&, SolveOptions& options, const PreparedSystem<T>& system, const Array<T>& b, Array<T>& x,
           SolveFacts& facts, const std::function<void()>& prepared, const Watch&, const ColumnWatch& solved = {});

/// The first method of a ladder: solves from the guess in x, and adds to the facts.
template <class T>
using FirstSolve = std::function<void(Array<T>& x, SolveFacts&)>;

/// The same, where the first method is set up already, or differently: `first` solves by it.
template <class T>
void climb_after(Context&, const FirstSolve<T>& first, SolveOptions& options, const PreparedSystem<T>& system,
                 const Array<T>& b, Array<T>& x, SolveFacts& facts, const std::function<void()>& prepared,
                 const Watch&);

}  // namespace krill
