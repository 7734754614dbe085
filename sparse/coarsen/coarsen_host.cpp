#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/coarsen/strength_passes.hpp"
#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

template class AggregatePasses<Host>;
template class RootPasses<std::int32_t, Host>;
template class RootPasses<std::int64_t, Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(JoinPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(StrengthPasses, Host);

}  // namespace krill::detail
