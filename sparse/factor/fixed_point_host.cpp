#include "sparse/core/pass_host.hpp"
#include "sparse/factor/fixed_point_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(FixedPointPasses, Host);

}  // namespace krill::detail
