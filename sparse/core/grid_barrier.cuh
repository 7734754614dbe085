// A barrier of all blocks of a grid that are all resident.
#pragma once
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

/// Blocks count their arrivals in memory, from 0 on. What is written before wait() by any thread, all threads read
/// after it; places that a thread had read before, too, as the load that ends the wait empties the multiprocessor's L1.
class GridBarrier {
 public:
  __device__ explicit GridBarrier(unsigned* arrivals) : arrivals_(arrivals) {}

  /// Called by all threads of all blocks.
  __device__ void wait() {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals_) : "memory");
      awaited_ += gridDim.x;
      unsigned seen;
      do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals_) : "memory");
      while (static_cast<int>(seen - awaited_) < 0);
    }
    __syncthreads();
  }

 private:
  unsigned* arrivals_;
  unsigned awaited_ = 0;  // in thread 0
};

/// Room for the arrivals, none yet.
inline unsigned* take_arrivals(const Cuda& cuda, Frame& frame) {
  unsigned* const arrivals = frame.take<unsigned>(1);
  check(cudaMemsetAsync(arrivals, 0, sizeof(unsigned), cuda.stream));
  return arrivals;
}

}  // namespace krill::detail
