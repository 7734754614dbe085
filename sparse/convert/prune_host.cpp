#include "sparse/convert/prune.hpp"
#include "sparse/convert/prune_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;

template <class T, class Offset>
void count_above(const Host& host, const CsrView<const T, Offset>& a, double threshold, std::int32_t* counts,
                 std::int64_t* total) {
  using View = Above<CsrView<const T, Offset>>;
  run_pass(host, a.rows, CountEntries<View, std::int32_t>{{a, threshold}, counts});
  run_pass(host, a.rows, TotalCount<std::int32_t>{counts, total});
}

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(PruneKernels, Host);
template class PruneKernels<Half, std::int32_t, Host>;
template class PruneKernels<Half, std::int64_t, Host>;

}  // namespace krill::detail
