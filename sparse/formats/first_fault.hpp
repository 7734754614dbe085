// The search for the first fault, for validate() of every format.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "sparse/core/pass_host.hpp"

namespace krill::detail {

/// The least i in [0, n) with faulty(i), or n; the same for any number of threads.
template <class F>
std::int64_t first_fault(const Host& host, std::int64_t n, F&& faulty) {
  std::atomic<std::int64_t> first{n};
  for_blocks(host, n, sum_block, n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (!faulty(i)) continue;
      std::int64_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) continue;
      return;
    }
  });
  return first;
}

}  // namespace krill::detail
