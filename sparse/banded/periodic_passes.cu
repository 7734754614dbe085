#include "sparse/banded/periodic_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

KRILL_INSTANTIATE(PeriodicPasses, Cuda);

}  // namespace krill::detail
