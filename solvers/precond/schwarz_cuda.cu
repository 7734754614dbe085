#include "solvers/precond/schwarz_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int threads = 256;  ///< of a part, which has thousands of rows. Not varied.
};

// Threads: a block a part, which strides over its rows. Bytes: r and the list of rows, once. Races: a sum is one
// block's.
template <class T>
__global__ void __launch_bounds__(Tuning::threads)
    sum_kernel(const std::int32_t* offsets, const std::int32_t* rows, const T* r, T* sums, Skip skip) {
  if (skip.now()) return;
  wide_t<T> sum{};
  for (std::int32_t k = offsets[blockIdx.x] + static_cast<std::int32_t>(threadIdx.x); k < offsets[blockIdx.x + 1];
       k += Tuning::threads)
    sum += wide(r[rows[k]]);
  const wide_t<T> total = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = T(total);
}

}  // namespace

template <class T>
void sum_parts(const Cuda& cuda, std::int32_t parts, const std::int32_t* offsets, const std::int32_t* rows, const T* r,
               T* sums) {
  if (parts == 0) return;
  sum_kernel<<<static_cast<unsigned>(parts), Tuning::threads, 0, cuda.stream>>>(offsets, rows, r, sums, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE_WITH_OFFSETS(PartPasses, Cuda);
KRILL_INSTANTIATE(PartSums, Cuda);

}  // namespace krill::detail
