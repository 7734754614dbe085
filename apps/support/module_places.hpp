// Where modules and data lie that the program opens when it needs them.
#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

namespace krill::apps {

/// Beside the program, in lib/ beside it (tools/bundle), or in ../lib (installed).
std::vector<std::filesystem::path> module_places(std::string_view module_name);

/// Of a machine's figures: in data/machines/ beside the program (tools/bundle), or in ../share/krill/machines (built
/// and installed).
std::vector<std::filesystem::path> machine_places(std::string_view file_name);

}  // namespace krill::apps
