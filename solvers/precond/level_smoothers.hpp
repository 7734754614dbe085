// Preconditioners as the smoothers of multigrid levels.
#pragma once
#include "solvers/multigrid/options.hpp"
#include "solvers/multigrid/smoother.hpp"

namespace krill {

/// What makes them for a level; empty where the options ask for a polynomial. multicolor_gauss_seidel: sweeps over the
/// rows in the order of colors (coloring.hpp), from the first to the last before a coarser level is asked and back
/// after it, so that a cycle is Hermitian where A is; ilu0 and isai: the same at both times.
template <class T>
MakeSmoothingPair<T> smoothing_pairs(const SmootherOptions&);

}  // namespace krill
