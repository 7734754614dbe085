// Large copies to a device. The driver takes pageable memory through a pinned buffer of its own, with one thread: 7
// GB/s on an H200's host. Several threads with pinned buffers come near to what the bus carries.
#pragma once
#include <cstddef>

#include "sparse/core/context.hpp"

namespace krill::device {

/// What a copy by several threads starts to pay from; below, the first one would cost more than it saves.
inline constexpr std::size_t min_staged_bytes = std::size_t{16} << 20;

/// Copies to the device in the order of the tag's stream; when it returns, the host memory has been read. False, and
/// nothing is done, where there is one thread or no memory can be pinned. A process keeps 12 MiB pinned from the first
/// copy on. From any thread; copies take turns.
bool copy_in_by_threads(const Cuda&, void* to, const void* from, std::size_t bytes);

}  // namespace krill::device
