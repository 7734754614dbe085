#include <algorithm>
#include <vector>

#include "sparse/convert/merge.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

template <class Offset, class Key, class Sink>
void merge_rows(const Host& host, const CsrView<const NoValue, Offset>& a, std::int32_t group_rows, Key key,
                Sink sink) {
  if (host.skip.now()) return;
  const std::int64_t groups = detail::ceil_div(a.rows, group_rows), work = a.nnz + a.rows;
  const std::int64_t tile = std::max<std::int64_t>(1, detail::sum_block / group_rows);
  for_blocks(host, groups, tile, work, [&](std::int64_t begin, std::int64_t end) {
    std::vector<RowCursor<Offset>> memory(static_cast<std::size_t>(std::min(group_rows, a.rows)));
    RowCursor<Offset>* const cursors = memory.data();
    const std::int32_t* const cols = a.col_indices;
    const Key mine = key;  // which no store can change: it stays in registers
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * group_rows, group_end = std::min<std::int64_t>(first + group_rows, a.rows);
      for (std::int64_t row = first; row < group_end; ++row) cursors[row - first] = RowCursor<Offset>::of_row(a, row);
      const auto min_after = [&](std::int32_t last) {
        std::int32_t least = no_key;
        for (std::int64_t row = first; row < group_end; ++row)
          least = std::min(least, cursors[row - first].after(last, cols, mine, row));
        return least;
      };
      std::int64_t at = sink.begin(group);
      for (std::int32_t next = min_after(before_all_keys); next != no_key; next = min_after(next))
        sink.entry(at++, next);
      sink.finish(group, at, 0, 1);
    }
  });
}

template class MergeKernels<std::int32_t, Host>;
template class MergeKernels<std::int64_t, Host>;

}  // namespace krill::detail
