// Aggregates: disjoint sets of rows that become the rows of a coarse matrix.
#pragma once
#include "sparse/core/array.hpp"

namespace krill {

struct Aggregates {
  std::int32_t count = 0;
  Array<std::int32_t> of_row;   ///< an entry a row; -1: in none
  Array<std::int32_t> offsets;  ///< count + 1; where the rows of each begin
  Array<std::int32_t> rows;     ///< of each aggregate, ascending
};

}  // namespace krill
