// What is told of the levels of a multigrid method: figures that their set-up has found by the way.
#pragma once
#include <string>
#include <vector>

#include "solvers/multigrid/level.hpp"
#include "sparse/coarsen/aggregate.hpp"

namespace krill::detail {

/// Into the level's report, how many aggregates there are; how large they are, tell_level() says: one pass over their
/// offsets.
template <class T>
void tell_aggregates(Context&, MultigridLevel<T>&, const Aggregates&);

/// Into the level's report, what is known once the way to the next level is made. A: the level's matrix; steps: of its
/// set-up, in ms. Waits.
template <class T>
void tell_level(Context&, MultigridLevel<T>&, const AnyMatrix<T>& A,
                std::vector<std::pair<std::string_view, double>> steps);

/// The same of cycles: `products` are those with the level's matrix, or with its dense inverse.
template <class T>
void tell_cycle(MultigridLevel<T>&, double visits, double products);

/// Sentences about rows in no aggregate, diagonals that smoothers can do little with, columns of interpolation that are
/// zero, and a singular last level.
template <class T>
std::vector<std::string> level_notes(const MultigridLevels<T>&);

}  // namespace krill::detail
