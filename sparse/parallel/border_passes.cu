#include "sparse/core/pass_cuda.cuh"
#include "sparse/parallel/border_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(BorderPasses, Cuda);

}  // namespace krill::detail
