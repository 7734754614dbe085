// Copies into shared memory that go on in the background (compute capability 9.0 and later). Elsewhere there are none:
// has_bulk_copies() says so, and threads bring the data themselves.
#pragma once
#include <cstdint>

namespace krill {

__device__ constexpr bool has_bulk_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return true;
#else
  return false;
#endif
}

namespace detail {
__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
}  // namespace detail

/// Before the first use of a barrier, by one thread; the others meet it after a barrier of the block.
__device__ inline void init_copies([[maybe_unused]] std::uint64_t& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(detail::shared_address(&barrier)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Says how many bytes of copies the barrier's next phase waits for. One thread, once a phase.
__device__ inline void expect_bytes([[maybe_unused]] std::uint64_t& barrier, [[maybe_unused]] std::uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(detail::shared_address(&barrier)), "r"(bytes)
               : "memory");
#endif
}

/// Starts a copy into shared memory; addresses and size are multiples of 16.
__device__ inline void copy_async([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                                  [[maybe_unused]] std::uint32_t bytes, [[maybe_unused]] std::uint64_t& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   detail::shared_address(to)),
               "l"(from), "r"(bytes), "r"(detail::shared_address(&barrier))
               : "memory");
#endif
}

/// Until the phase of that parity is over: its bytes are there, for this thread to see.
__device__ inline void wait_for_copies([[maybe_unused]] std::uint64_t& barrier, [[maybe_unused]] std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(detail::shared_address(&barrier)), "r"(parity)
                 : "memory");
#endif
}

}  // namespace krill
