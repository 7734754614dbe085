#include "sparse/core/pass_cuda.cuh"
#include "sparse/factor/fixed_point_passes.hpp"
#include "sparse/factor/fixed_point_threshold_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(FixedPointPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(GrowthPasses, Cuda);

}  // namespace krill::detail
