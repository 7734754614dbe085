// Copies into shared memory that go on in the background, and the barriers that say when they are done (compute
// capability 9.0 and later). Elsewhere these functions do nothing: has_bulk_copies() says which kernels have them.
#pragma once
#include <cstdint>

#include "sparse/core/error.hpp"

namespace krill::detail {

/// Whether the code of `kernel` that runs here was compiled for that compute capability (90: 9.0) or a later one.
template <auto kernel, int capability>
bool compiled_for() {
  static const bool is = [] {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.ptxVersion >= capability;
  }();
  return is;
}

/// Whether the code of `kernel` that runs here was compiled with them.
template <auto kernel>
bool has_bulk_copies() {
  return compiled_for<kernel, 90>();
}

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// Sets up a barrier each of whose phases ends with so many arrivals. Called by one thread; the others use it after a
/// barrier of the block.
__device__ inline void init_barrier([[maybe_unused]] std::uint64_t& barrier, [[maybe_unused]] std::uint32_t arrivals) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Arrives at the barrier. Threads that wait for the phase see what this thread wrote before.
__device__ inline void arrive([[maybe_unused]] std::uint64_t& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
#endif
}

/// Arrives, and makes the phase wait for so many bytes of copies, too.
__device__ inline void expect_bytes([[maybe_unused]] std::uint64_t& barrier, [[maybe_unused]] std::uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
#endif
}

/// Starts a copy into shared memory; addresses and size are multiples of 16.
__device__ inline void copy_async([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                                  [[maybe_unused]] std::uint32_t bytes, [[maybe_unused]] std::uint64_t& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(&barrier))
               : "memory");
#endif
}

/// A fence between this thread's writes to shared memory and a copy that will overwrite them. Called before it arrives.
__device__ inline void before_next_copy() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Waits for the end of the phase of that parity; then this thread sees the bytes that were copied.
__device__ inline void wait_for_phase([[maybe_unused]] std::uint64_t& barrier, [[maybe_unused]] std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(&barrier)), "r"(parity)
                 : "memory");
#endif
}

}  // namespace krill::detail
