#include "sparse/core/memory_use.hpp"

#include <atomic>

namespace krill::host_memory {
namespace {

std::atomic<std::size_t> now{0}, peak{0};

}  // namespace

void add(std::size_t bytes) noexcept {
  const std::size_t sum = now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t most = peak.load(std::memory_order_relaxed);
  while (sum > most && !peak.compare_exchange_weak(most, sum, std::memory_order_relaxed)) {
  }
}

void subtract(std::size_t bytes) noexcept { now.fetch_sub(bytes, std::memory_order_relaxed); }

MemoryUse use() noexcept { return {now.load(std::memory_order_relaxed), peak.load(std::memory_order_relaxed)}; }

void restart_peak() noexcept { peak.store(now.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace krill::host_memory
