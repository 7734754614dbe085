#include <algorithm>

#include "sparse/coarsen/contract_passes.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

constexpr std::int64_t aggregates_at_a_time = 256;  // Not varied

template <class T, class Offset>
void contract(const Host& host, const Contraction<T, Offset>& p) {
  if (host.skip.now()) return;
  for_blocks(host, p.c.rows, aggregates_at_a_time, p.a.nnz, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t aggregate = begin; aggregate < end; ++aggregate) {
      const Offset first = p.c.row_offsets[aggregate], last = p.c.row_offsets[aggregate + 1];
      std::fill(p.values + first, p.values + last, T{});
      for (std::int32_t r = p.offsets[aggregate]; r < p.offsets[aggregate + 1]; ++r)
        for (Offset k = p.a.row_offsets[p.rows[r]]; k < p.a.row_offsets[p.rows[r] + 1]; ++k)
          if (const std::int32_t column = p.of_row[p.a.col_indices[k]]; column >= 0)
            p.values[lower_entry(p.c.col_indices, first, last, column)] += p.a.values[k];
    }
  });
}

template class ContractPasses<std::int32_t, Host>;
template class ContractPasses<std::int64_t, Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(ContractKernels, Host);

}  // namespace krill::detail
