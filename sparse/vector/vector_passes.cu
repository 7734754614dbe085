#include "sparse/core/pass_cuda.cuh"
#include "sparse/vector/sparse_dense_passes.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {
namespace {

// Of passes in two steps. Not varied.
struct Tuning {
  static constexpr int threads = 128;
  static constexpr int flight = 2;  ///< entries that a thread loads before it stores the first
};

// Threads: a block has neighboring entries, a thread every so many-th of them. Bytes, races: what the steps say.
template <class Steps>
__global__ void __launch_bounds__(Tuning::threads) entries_kernel(std::int64_t n, Steps steps, Skip skip) {
  if (skip.now() || !steps.begin()) return;
  const std::int64_t first = std::int64_t{blockIdx.x} * (Tuning::threads * Tuning::flight) + threadIdx.x;
  decltype(steps.load(0)) loaded[Tuning::flight];
#pragma unroll
  for (int u = 0; u < Tuning::flight; ++u)
    if (const std::int64_t k = first + u * Tuning::threads; k < n) loaded[u] = steps.load(k);
#pragma unroll
  for (int u = 0; u < Tuning::flight; ++u)
    if (const std::int64_t k = first + u * Tuning::threads; k < n) steps.store(k, loaded[u]);
}

}  // namespace

template <class Steps>
void run_entries(const Cuda& cuda, std::int64_t n, Steps steps) {
  if (n == 0) return;
  const std::int64_t blocks = ceil_div(n, std::int64_t{Tuning::threads * Tuning::flight});
  entries_kernel<<<static_cast<unsigned>(blocks), Tuning::threads, 0, cuda.stream>>>(n, steps, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE(VectorPasses, Cuda);
KRILL_INSTANTIATE(SparseDensePasses, Cuda);
template struct TwoBytePasses<Half, Cuda>;
template struct TwoBytePasses<BFloat16, Cuda>;
template struct BytePasses<Cuda>;

}  // namespace krill::detail
