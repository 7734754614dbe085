// How much memory the host has left.
#pragma once
#include <cstddef>
#include <string_view>

namespace krill {

/// Bytes that a program can take without swapping: the system's own estimate, or the size of the memory where the
/// system gives none.
std::size_t available_memory();

/// Raises OutOfMemory, which tells the bytes asked for and those free, where `bytes` more do not fit; `what` names who
/// asks. Sizes that a file declares pass through here before anything is allocated: Linux grants allocations beyond the
/// memory that it has.
void require_memory(std::string_view what, std::size_t bytes);

}  // namespace krill
