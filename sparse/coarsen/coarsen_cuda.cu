#include <cub/device/device_select.cuh>

#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/coarsen/strength_passes.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

// A selection by CUB. Bytes: flags and columns once; 4 for each that is chosen.
template <class Offset>
void list_flagged(const Cuda& cuda, CsrView<const NoValue, Offset> a, const std::uint8_t* flags, const Offset*,
                  std::int32_t* col_indices) {
  Frame frame(cuda);
  auto* count = frame.take<std::int64_t>(1);
  std::size_t bytes = 0;
  const auto select = [&](void* workspace) {
    check(cub::DeviceSelect::Flagged(workspace, bytes, a.col_indices, flags, col_indices, count, a.nnz, cuda.stream));
  };
  select(nullptr);
  select(frame.take<char>(bytes));
}

template class AggregatePasses<Cuda>;
template class RootPasses<std::int32_t, Cuda>;
template class RootPasses<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(JoinPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(StrengthPasses, Cuda);
template class StrongListKernels<std::int32_t, Cuda>;
template class StrongListKernels<std::int64_t, Cuda>;

}  // namespace krill::detail
