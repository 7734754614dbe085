// The roofline picture (Williams, Waterman and Patterson 2009): what rows compute a second, over what they compute a
// byte, below the memory's ceilings of the same run.
#pragma once
#include <string>

#include "apps/bench/result.hpp"
#include "apps/report/gnuplot.hpp"

namespace krill::apps::bench {

/// The script: logarithmic scales; the largest ceiling as the roof, the others as thin lines; a mark for each row with
/// a time and a count of operations, a color and a shape for each kernel.
std::string roofline_script(const Result&);

}  // namespace krill::apps::bench
