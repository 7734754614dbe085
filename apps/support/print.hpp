// What commands say.
#pragma once
#include <string>
#include <string_view>

namespace krill::apps {

/// Writes to the standard output. Raises Error where that is closed or full.
void print(std::string_view text);

/// Writes every line of a message that is no continuation (those are indented) to the standard error as the program's,
/// after `krill: `.
void complain(const std::string& message);

}  // namespace krill::apps
