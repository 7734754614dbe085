// How kernels that stand beside each other bring their dots together.
#pragma once
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/dots_meeting.hpp"

namespace krill {

/// True for the kernel that comes last: the first half becomes the sum of both, in their order, over all ranks. By the
/// thread of each of the two kernels that has left its half there; none waits for the other. Inlined: a call would take
/// a stack, and each kernel longer to start.
template <class T>
__device__ __forceinline__ bool completes(DotsMeeting<T>* meeting) {
  __threadfence();
  if (atomicAdd(&meeting->arrived, 1u) == 0) return false;
  __threadfence();
  meeting->arrived = 0;
  DotsSum<T> sum = load_through(&meeting->halves[0]);
  sum += load_through(&meeting->halves[1]);
  meeting->halves[0] = sum_over_ranks(meeting->slots, sum);
  return true;
}

}  // namespace krill
