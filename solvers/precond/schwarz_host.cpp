#include "solvers/precond/schwarz_passes.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

template <class T>
void sum_parts(const Host& host, std::int32_t parts, const std::int32_t* offsets, const std::int32_t* rows, const T* r,
               T* sums) {
  if (host.skip.now()) return;
  for_blocks(host, parts, 1, offsets[parts], [&](std::int64_t p, std::int64_t) {
    sums[p] = T(lane_sum<wide_t<T>>(offsets[p], offsets[p + 1], [&](std::int64_t k) { return wide(r[rows[k]]); }));
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(PartPasses, Host);
KRILL_INSTANTIATE(PartSums, Host);

}  // namespace krill::detail
