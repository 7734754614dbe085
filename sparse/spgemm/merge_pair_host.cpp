#include "sparse/core/pass_host.hpp"
#include "sparse/spgemm/merge_pair.hpp"

namespace krill::detail {

template <class Offset, class Sink>
void merge_pair(const Host& host, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                Sink sink) {
  if (host.skip.now()) return;
  constexpr std::int64_t rows_at_a_time = 256;  // so that some long rows do not hold up one thread. Not varied.
  for_blocks(host, a.rows, rows_at_a_time, a.nnz + b.nnz + a.rows, [&](std::int64_t first, std::int64_t last) {
    const Sink mine = sink;  // which no store can change: it stays in registers
    const std::int32_t *const a_cols = a.col_indices, *const b_cols = b.col_indices;
    for (std::int64_t row = first; row < last; ++row) {
      std::int64_t ka = a.row_offsets[row], kb = b.row_offsets[row], at = mine.begin(row);
      const std::int64_t a_end = a.row_offsets[row + 1], b_end = b.row_offsets[row + 1];
      while (ka < a_end && kb < b_end) {
        const std::int32_t in_a = a_cols[ka], in_b = b_cols[kb];
        mine.entry(at++, std::min(in_a, in_b), in_a <= in_b ? ka : absent, in_b <= in_a ? kb : absent);
        ka += in_a <= in_b, kb += in_b <= in_a;
      }
      for (; ka < a_end; ++ka) mine.entry(at++, a_cols[ka], ka, absent);
      for (; kb < b_end; ++kb) mine.entry(at++, b_cols[kb], absent, kb);
      mine.finish(row, at);
    }
  });
}

template class PairKernels<std::int32_t, Host>;
template class PairKernels<std::int64_t, Host>;

}  // namespace krill::detail
