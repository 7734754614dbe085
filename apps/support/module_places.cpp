#include "apps/support/module_places.hpp"

#include <system_error>

namespace krill::apps {
namespace {

std::filesystem::path folder_of_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

}  // namespace

std::vector<std::filesystem::path> module_places(std::string_view name) {
  const auto folder = folder_of_program();
  return {folder / name, folder / "lib" / name, (folder / ".." / "lib" / name).lexically_normal()};
}

std::vector<std::filesystem::path> machine_places(std::string_view name) {
  const auto folder = folder_of_program();
  return {folder / "data" / "machines" / name,
          (folder / ".." / "share" / "krill" / "machines" / name).lexically_normal()};
}

}  // namespace krill::apps
