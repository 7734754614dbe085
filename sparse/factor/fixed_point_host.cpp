#include "sparse/core/pass_host.hpp"
#include "sparse/factor/fixed_point_passes.hpp"
#include "sparse/factor/fixed_point_threshold_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(FixedPointPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(GrowthPasses, Host);

}  // namespace krill::detail
