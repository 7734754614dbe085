#include <cuda_runtime_api.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "sparse/core/staging.hpp"

namespace krill::device {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 20, huge_page = std::size_t{2} << 20;
constexpr int max_threads = 6;  // more were no quicker: the bus is full
constexpr int slots_each = 2;   // one is filled while the other one is on its way

/// Pinned memory of the process; null where there can be none. To pin pages that are there took 0.10 ms a MiB on an
/// H200's host, cudaHostAlloc 0.50.
std::byte* slots() {
  static std::byte* const memory = [] {
    constexpr std::size_t bytes = max_threads * slots_each * chunk;
    void* pages = std::aligned_alloc(huge_page, bytes);
    if (!pages) return static_cast<std::byte*>(nullptr);
    std::memset(pages, 0, bytes);
    if (cudaHostRegister(pages, bytes, cudaHostRegisterPortable) == cudaSuccess) return static_cast<std::byte*>(pages);
    cudaGetLastError();
    std::free(pages);
    return static_cast<std::byte*>(nullptr);
  }();
  return memory;
}

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream)); }
  void wait() { check(cudaEventSynchronize(event_)); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// One thread's chunks: every `threads`-th one from its own on. Waits until its slots are free again.
void copy_share(const Cuda& where, std::byte* to, const std::byte* from, std::size_t bytes, int thread, int threads) {
  const Current current(where.device);
  Event sent[slots_each];
  std::byte* const mine = slots() + static_cast<std::size_t>(thread * slots_each) * chunk;
  std::size_t turn = 0;
  for (std::size_t at = static_cast<std::size_t>(thread) * chunk; at < bytes;
       at += static_cast<std::size_t>(threads) * chunk, ++turn) {
    const std::size_t slot = turn % slots_each, length = std::min(chunk, bytes - at);
    sent[slot].wait();
    std::memcpy(mine + slot * chunk, from + at, length);
    check(cudaMemcpyAsync(to + at, mine + slot * chunk, length, cudaMemcpyHostToDevice, where.stream));
    sent[slot].record(where.stream);
  }
  for (Event& each : sent) each.wait();
}

}  // namespace

bool copy_in_by_threads(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  static std::mutex mutex;
  const int threads = omp_in_parallel() ? 1 : std::min(omp_get_max_threads(), max_threads);
  if (threads < 2) return false;
  const std::lock_guard lock(mutex);
  {
    const Current current(where.device);
    if (!slots()) return false;
  }
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
  try {
    copy_share(where, static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, omp_get_thread_num(),
               omp_get_num_threads());
  } catch (...) {
#pragma omp critical(krill_staging)
    failure = std::current_exception();
  }
  if (failure) std::rethrow_exception(failure);
  return true;
}

}  // namespace krill::device
