#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

KRILL_INSTANTIATE(MultigridPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(MultigridSetupPasses, Cuda);

}  // namespace krill::detail
