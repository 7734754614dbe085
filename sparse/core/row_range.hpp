// Some rows of a matrix that follow each other.
#pragma once
#include <cstdint>
#include <limits>

namespace krill {

/// Rows [begin, end); by default all.
struct RowRange {
  std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
};

}  // namespace krill
