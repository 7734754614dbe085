// What the memory can give: the bound that kernels are measured against.
#pragma once
#include "apps/bench/result.hpp"
#include "sparse/core/context.hpp"

namespace krill::apps::bench {

/// Copy, triad and read over arrays that no cache holds, each the best of the ways there are: the memory's own copy and
/// passes of the vector room. Raises OutOfMemory.
Ceilings measure_ceilings(Context&);

}  // namespace krill::apps::bench
