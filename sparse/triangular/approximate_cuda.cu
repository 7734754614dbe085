#include "sparse/core/pass_cuda.cuh"
#include "sparse/triangular/approximate_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(ApproximatePasses, Cuda);

}  // namespace krill::detail
