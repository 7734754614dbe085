#include <algorithm>

#include "sparse/core/pass_host.hpp"
#include "sparse/triangular/levels_passes.hpp"

namespace krill::detail {

template <class Offset>
void find_depths(const Host&, const Steps& steps, const Offset* row_offsets, const std::int32_t* col_indices,
                 std::int32_t* depths, std::int32_t /*rounds*/) {
  for (std::int32_t step = 0; step < steps.rows; ++step) {
    const std::int32_t row = steps.row(step);
    std::int32_t depth = 0;
    for (Offset k = row_offsets[row]; k < row_offsets[row + 1]; ++k)
      if (steps.step(col_indices[k]) < step) depth = std::max(depth, depths[col_indices[k]]);
    depths[row] = depth + 1;
  }
}

void sort_by_depth(const Host& host, const Steps& steps, std::int32_t deepest, const std::int32_t* depths,
                   std::int32_t* sorted, std::int32_t* order) {
  Frame frame(host);
  auto* begins = frame.take<std::int32_t>(static_cast<std::size_t>(deepest) + 2);
  std::fill_n(begins, deepest + 2, 0);
  for (std::int32_t row = 0; row < steps.rows; ++row) ++begins[depths[row] + 1];
  for (std::int32_t depth = 0; depth <= deepest; ++depth) begins[depth + 1] += begins[depth];
  for (std::int32_t step = 0; step < steps.rows; ++step) {
    const std::int32_t row = steps.row(step), place = begins[depths[row]]++;
    order[place] = row, sorted[place] = depths[row];
  }
}

template class LevelPasses<Host>;

}  // namespace krill::detail
