#include "sparse/core/pass_cuda.cuh"
#include "sparse/vector/sparse_dense_passes.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(VectorPasses, Cuda);
KRILL_INSTANTIATE(SparseDensePasses, Cuda);
template struct TwoBytePasses<Half, Cuda>;
template struct TwoBytePasses<BFloat16, Cuda>;
template struct BytePasses<Cuda>;

}  // namespace krill::detail
