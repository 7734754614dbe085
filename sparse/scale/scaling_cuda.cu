#include "sparse/core/pass_cuda.cuh"
#include "sparse/scale/scaling_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(ScalingPasses, Cuda);

}  // namespace krill::detail
