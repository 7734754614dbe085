// What the pattern of a matrix says as a graph: parts that do not meet.
#pragma once
#include <cstdint>
#include <optional>

#include "sparse/io/structural_rank.hpp"

namespace krill::apps {

/// The connected components of a square matrix's graph, entries in either triangle linking row and column.
struct Components {
  std::int32_t count = 0;
  std::int32_t largest = 0;                   ///< rows of the largest one, the first of that size
  std::int32_t single = 0;                    ///< components of one row
  std::optional<std::int32_t> first_outside;  ///< the first row that is not in the largest one
};
/// O(nnz), by union and find.
template <class Offset>
Components components(const PatternView<Offset>&);

}  // namespace krill::apps
