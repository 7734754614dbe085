// How much memory Krill has on one side, and how much it had at most.
#pragma once
#include <cstddef>

namespace krill {

/// Bytes of arrays and workspace.
struct MemoryUse {
  std::size_t now = 0;
  std::size_t peak = 0;  ///< the most since the peak was last restarted
};

/// The arrays' host copies and the workspaces of all contexts; what std::vectors hold before an array takes them over
/// does not count. Any thread.
namespace host_memory {

void add(std::size_t bytes) noexcept;
void subtract(std::size_t bytes) noexcept;
MemoryUse use() noexcept;
/// From now on the peak counts from what there is.
void restart_peak() noexcept;

}  // namespace host_memory
}  // namespace krill
