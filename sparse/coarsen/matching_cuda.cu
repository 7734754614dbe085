#include "sparse/coarsen/matching_passes.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"

namespace krill::detail {

template class PairingPasses<Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingKernels, Cuda);

}  // namespace krill::detail
