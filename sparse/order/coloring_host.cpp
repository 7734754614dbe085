#include <vector>

#include "sparse/core/pass_host.hpp"
#include "sparse/order/coloring_passes.hpp"

namespace krill::detail {

template <class Offset>
void greedy_colors(const Host&, const Neighbors<Offset>& neighbors, const ColorSequence& sequence, std::int32_t count,
                   const std::int32_t* list, std::int32_t* colors) {
  std::vector<std::int32_t> seen_by(2, -1);  // the last row that met a color; one more than there are colors
  const auto color_row = [&](std::int32_t row) {
    for (int side = 0; side < 2; ++side) {
      const Offset* offsets = neighbors.row_offsets[side];
      if (!offsets) continue;
      for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) {
        const std::int32_t color = colors[neighbors.col_indices[side][k]];
        if (color > 0) seen_by[static_cast<std::size_t>(color)] = row;
      }
    }
    std::size_t free = 1;
    while (seen_by[free] == row) ++free;
    colors[row] = static_cast<std::int32_t>(free);
    if (free + 1 == seen_by.size()) seen_by.push_back(-1);
  };
  for (std::int32_t i = 0; i < count; ++i) color_row(list[i]);
  for (std::int64_t step = 0; step < sequence.steps(); ++step)
    if (const std::int32_t row = sequence.row(step); row >= 0 && colors[row] == 0) color_row(row);
}

template class ColoringPasses<std::int32_t, Host>;
template class ColoringPasses<std::int64_t, Host>;

}  // namespace krill::detail
