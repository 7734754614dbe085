#include "apps/support/module_places.hpp"

#include <system_error>

namespace krill::apps {

std::vector<std::filesystem::path> module_places(std::string_view name) {
  std::error_code unknown;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  return {folder / name, folder / "lib" / name, (folder / ".." / "lib" / name).lexically_normal()};
}

}  // namespace krill::apps
