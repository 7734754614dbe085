// Where modules lie that the program opens when it needs them.
#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

namespace krill::apps {

/// Beside the program, in lib/ beside it (tools/bundle), or in ../lib (installed).
std::vector<std::filesystem::path> module_places(std::string_view module_name);

}  // namespace krill::apps
