#include "sparse/core/pass_host.hpp"
#include "sparse/triangular/approximate_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(ApproximatePasses, Host);

}  // namespace krill::detail
