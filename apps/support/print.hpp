// What commands say.
#pragma once
#include <string_view>

namespace krill::apps {

/// Writes to the standard output. Raises Error where that is closed or full.
void print(std::string_view text);

}  // namespace krill::apps
