#include "sparse/core/pass_host.hpp"
#include "sparse/scale/scaling_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(ScalingPasses, Host);

}  // namespace krill::detail
