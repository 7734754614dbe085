// A few words of device memory, read by the host.
#pragma once
#include <cstddef>

#include "sparse/core/context.hpp"

namespace krill::device {

/// In the order of the tag's stream: `to` = those words, then *sign = value; both lie in pinned memory.
void post_words(const Cuda&, const unsigned* from, std::size_t words, unsigned* to, unsigned* sign, unsigned value);

}  // namespace krill::device
