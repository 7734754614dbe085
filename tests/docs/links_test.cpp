// The pages of the documentation: links inside of the project lead somewhere.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/apps/solve_support.hpp"

namespace krill::apps::test {
namespace {

std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator("."))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  for (const char* folder : {"docs", "sparse", "solvers", "apps"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

/// The targets of a page's links, without what follows a #.
std::vector<std::string> targets(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 2)) {
    const std::string whole = text.substr(at + 2, text.find(')', at) - at - 2);
    const std::string target = whole.substr(0, whole.find('#'));
    if (!target.empty() && target.find_first_of(" \n") == std::string::npos) all.push_back(target);
  }
  return all;
}

TEST(Documentation, links_lead_to_files_that_are_there) {
  int followed = 0;
  for (const auto& page : pages())
    for (const std::string& target : targets(contents(page.string()))) {
      if (target.starts_with("http")) continue;
      EXPECT_TRUE(std::filesystem::exists(page.parent_path() / target)) << page.string() << ": " << target;
      ++followed;
    }
  EXPECT_GT(followed, 50);
}

}  // namespace
}  // namespace krill::apps::test
