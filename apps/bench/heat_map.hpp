// The heat map of `krill bench banded`: how much longer the rival takes, over rows and systems.
#pragma once
#include <string>

#include "apps/bench/result.hpp"
#include "apps/report/gnuplot.hpp"

namespace krill::apps::bench {

/// The script: a picture for each variant and precision with a cell for each shape that has a ratio. Cells show it, and
/// are blue where Krill is faster, orange where the rival is, fully from 8 times on.
std::string heat_map_script(const Result&);

}  // namespace krill::apps::bench
