// The last stage of a solve that the ranks of a team share.
#pragma once
#include "solvers/system/stages.hpp"

namespace krill {

/// Replaces what the rules of `auto` chose and several ranks do not run, with a note. Raises InvalidArgument where the
/// options name such a thing.
void require_shareable(SolveOptions&, SolveFacts&);

/// As solve_prepared(), but for what that measures of x: every rank has the whole system, of which each keeps, converts
/// and multiplies its own rows (those of SolveOptions::partition), makes the preconditioner of them, and gets all of x.
/// What the rules of `auto` chose and a team does not run is replaced, with a note. Raises InvalidArgument where the
/// options name what a team does not run: solvers banded and direct, preconditioners other than none, jacobi,
/// block_jacobi, chebyshev, isai and schwarz, and these three in float32; and TeamFailure.
template <class T>
void solve_in_team(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>& b, Array<T>& x, SolveFacts&,
                   const std::function<void()>& prepared, const Watch&, const ColumnWatch& solved);

}  // namespace krill
