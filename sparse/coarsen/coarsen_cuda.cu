#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/coarsen/strength_passes.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

template class AggregatePasses<Cuda>;
template class RootPasses<std::int32_t, Cuda>;
template class RootPasses<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(JoinPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(StrengthPasses, Cuda);
template class StrongListPasses<std::int32_t, Cuda>;
template class StrongListPasses<std::int64_t, Cuda>;

}  // namespace krill::detail
