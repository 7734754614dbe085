#include "sparse/banded/row_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

KRILL_INSTANTIATE(BandRowPasses, Cuda);

}  // namespace krill::detail
