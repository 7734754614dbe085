#include "sparse/banded/block_elimination.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

template <class T>
void run_blocks(const Host& host, const BlockPartition& partition, const BlockSolve<T>& s) {
  if (host.skip.now()) return;
  const BlockLevel<T> all = block_levels(partition, s)[0];
  with_block_size(s.a.size, [&](auto size) {
    const OneThread<size> team;
    const std::int64_t work = s.vectors.unknowns() * size * size;
    for_blocks(host, s.vectors.batch, 1, work, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t j = first; j < end; ++j) {
        s.zero_rows[j] = eliminate_blocks<false>(team, all, j, 0);
        substitute_blocks<false>(team, all, j, 0);
      }
    });
  });
}

KRILL_INSTANTIATE(BlockKernels, Host);

}  // namespace krill::detail
