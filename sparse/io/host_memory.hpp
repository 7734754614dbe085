// What the host can still hold.
#pragma once
#include <cstddef>
#include <string_view>

namespace krill {

/// Bytes that a program can take without swapping: the system's own estimate, or the size of the memory where the
/// system gives none.
std::size_t available_memory();

/// Raises OutOfMemory with the bytes asked and free where `bytes` more do not fit; `what` names the asker. Sizes that a
/// file declares pass through here before anything is allocated: Linux hands out memory that it does not have.
void require_memory(std::string_view what, std::size_t bytes);

}  // namespace krill
