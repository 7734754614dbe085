#include "sparse/banded/elimination.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int threads = 128;  ///< of a block. Not varied.
};

/// Five diagonals; systems of three are divided among threads (partition_cuda.cu). Threads: one a system. Bytes: bands
/// and b once, each entry above the diagonal and x written, read, x written again; whole lines where systems are
/// interleaved. Races: a thread touches its own system alone; b may be x, as row i of it is read before x has row i.
template <class T>
__global__ void __launch_bounds__(Tuning::threads) banded_kernel(BandedSolve<T> s, Skip skip) {
  using Steps = RotatedStepsOfFive<T>;
  const std::int64_t j = std::int64_t{blockIdx.x} * Tuning::threads + threadIdx.x;
  if (skip.now() || j >= s.vectors.batch) return;
  Steps steps;
  steps.start(s, j);
  for (std::int32_t i = 0; i < s.rows(); ++i) steps.step(s, i, j);
  BackSteps<Steps> back;
  for (std::int32_t i = s.rows() - 1; i >= 0; --i) back.step(s, i, j);
  s.zero_rows[j] = steps.zero_row;
}

}  // namespace

template <class T>
void run_banded(const Cuda& cuda, int, BandedMethod, const BandedSolve<T>& s) {
  const std::int64_t systems = s.vectors.batch;
  const auto blocks = static_cast<unsigned>((systems + Tuning::threads - 1) / Tuning::threads);
  banded_kernel<<<blocks, Tuning::threads, 0, cuda.stream>>>(s, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE(BandedKernels, Cuda);

}  // namespace krill::detail
