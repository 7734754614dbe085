// What is told of the levels of a multigrid method: figures that their set-up has found by the way.
#pragma once
#include <string>
#include <vector>

#include "solvers/multigrid/level.hpp"
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/core/step_times.hpp"

namespace krill::detail {

/// Into the level's report, how many aggregates there are; how large they are, tell_levels() says: one pass over their
/// offsets.
template <class T>
void tell_aggregates(Context&, MultigridLevel<T>&, const Aggregates&);

/// Into the levels' reports, what is known once all of them are made; their times, of each level. Waits.
template <class T>
void tell_levels(Context&, const MultigridLevels<T>&, const AnyMatrix<T>& finest, const std::vector<StepTimes>&);

/// The same of cycles: `products` are those with the level's matrix, or with its dense inverse.
template <class T>
void tell_cycle(MultigridLevel<T>&, double visits, double products);

/// Sentences about rows in no aggregate, diagonals that smoothers can do little with, columns of interpolation that are
/// zero, and a singular last level.
template <class T>
std::vector<std::string> level_notes(const MultigridLevels<T>&);

}  // namespace krill::detail
