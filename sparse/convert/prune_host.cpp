#include <algorithm>

#include "sparse/convert/prune.hpp"
#include "sparse/convert/prune_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;

template <class T>
void threshold_of_rank(const Host& host, const ValueLines<T>& from, std::int64_t rank, double* threshold) {
  if (host.skip.now()) return;
  Frame frame(host);
  auto* orders = frame.take<MagnitudeOrder<T>>(static_cast<std::size_t>(from.size()));
  for_each_index(host, from.size(), [&](std::int64_t k) { orders[k] = magnitude_order(from.at(k)); });
  std::nth_element(orders, orders + rank, orders + from.size());
  *threshold = threshold_at(orders[rank]);
}

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(PruneKernels, Host);
KRILL_INSTANTIATE(RankKernels, Host);
template class PruneKernels<Half, std::int32_t, Host>;
template class PruneKernels<Half, std::int64_t, Host>;
template class RankKernels<Half, Host>;

}  // namespace krill::detail
