#include <algorithm>

#include "sparse/convert/fill_blocks.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

// Row i of all blocks of a group: zeros, then the entries that lie in the block. Where the rows stay, one cursor goes
// along the row.
template <class Places, class T, class Offset>
void fill_blocks(const Host& host, const CsrView<const T, Offset>& from, Places to) {
  if (host.skip.now()) return;
  const Blocking blocks = to.blocks();
  const auto fill_row = [&](std::int32_t group, std::int32_t i) {
    Offset k = 0, end = 0;
    for (std::int64_t b = to.first(group); b < to.end(group); ++b) {
      for (std::int32_t j = 0; j < blocks.col_dim; ++j)
        if (const std::int64_t at = to.at(group, b, i, j); at >= 0) to.values[at] = T{};
      const std::int64_t row = to.row(group, b, i), left = to.col(group, b, 0);
      if (row >= from.rows) continue;
      if (!Places::rows_stay || b == to.first(group)) k = lower_entry(from, row, left), end = from.row_offsets[row + 1];
      for (; k < end && from.col_indices[k] < left + blocks.col_dim; ++k)
        if (from.col_indices[k] >= left) {
          const std::int64_t at = to.at(group, b, i, static_cast<std::int32_t>(from.col_indices[k] - left));
          if (at >= 0) to.values[at] = from.values[k];
        }
    }
  };
  const std::int64_t tile = std::max<std::int64_t>(1, detail::sum_block / blocks.row_dim);
  for_blocks(host, to.groups(), tile, from.nnz + from.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group)
      for (std::int32_t i = 0; i < blocks.row_dim; ++i) fill_row(static_cast<std::int32_t>(group), i);
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(FillBlocksKernels, Host);

}  // namespace krill::detail
