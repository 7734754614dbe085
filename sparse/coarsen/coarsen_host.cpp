#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/coarsen/strength_passes.hpp"
#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

template <class Offset>
void find_roots(const Host& host, const CsrView<const NoValue, Offset>& a, RootKey::Word* keys,
                RootKey::Word* greatest) {
  if (host.skip.now()) return;
  std::int64_t open = a.rows;
  for (int round = 0; open > 0; ++round) {
    reduce_rows(host, SpreadKeys<Offset>{a, keys, greatest});
    reduce_rows(host, DecideRoots<Offset>{a, round, greatest, keys, &open});
  }
}
template void find_roots(const Host&, const CsrView<const NoValue, std::int32_t>&, RootKey::Word*, RootKey::Word*);
template void find_roots(const Host&, const CsrView<const NoValue, std::int64_t>&, RootKey::Word*, RootKey::Word*);

template <class Offset>
void list_flagged(const Host& host, CsrView<const NoValue, Offset> a, const std::uint8_t* flags,
                  const Offset* row_offsets, std::int32_t* col_indices) {
  for_blocks(host, a.rows, sum_block, a.nnz, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t at = row_offsets[begin];
    for (std::int64_t k = a.row_offsets[begin]; k < a.row_offsets[end]; ++k)
      if (flags[k]) col_indices[at++] = a.col_indices[k];
  });
}

template class AggregatePasses<Host>;
template class RootPasses<std::int32_t, Host>;
template class RootPasses<std::int64_t, Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(JoinPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(StrengthPasses, Host);
template class StrongListKernels<std::int32_t, Host>;
template class StrongListKernels<std::int64_t, Host>;

}  // namespace krill::detail
