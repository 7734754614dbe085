// The last stage of a solve that the ranks of a team share.
#pragma once
#include "solvers/system/stages.hpp"

namespace krill {

/// Replaces what the rules of `auto` chose and several ranks do not run, with a note. Raises InvalidArgument where the
/// options name such a thing.
void require_shareable(SolveOptions&, SolveFacts&);

/// Ranks begin at multiples of so many rows: those of warps and slices, and of diagonal blocks whose size the options
/// name.
std::int64_t unit_of_rows(const PreconditionerOptions&);

/// As solve_prepared(), but for what that measures of x: every rank has the whole matrix, or own rows of it, and all of
/// b; each keeps, converts and multiplies its own rows (those of SolveOptions::partition, where it has the whole
/// matrix), makes the preconditioner of them, and gets all of x. What the rules of `auto` chose and a team does not run
/// is replaced, with a note. Raises InvalidArgument where the options name what a team does not run: solvers banded and
/// direct, preconditioners other than none, jacobi, block_jacobi, chebyshev, isai and schwarz, and these three in
/// float32; where ranks have own rows only and block_jacobi's size is not named; and TeamFailure.
template <class T>
void solve_in_team(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>& b, Array<T>& x, SolveFacts&,
                   const std::function<void()>& prepared, const Watch&, const ColumnWatch& solved);

}  // namespace krill
