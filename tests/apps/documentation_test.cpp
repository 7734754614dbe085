// The pages of the documentation: links inside of the project lead somewhere.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/apps/solve_support.hpp"

namespace krill::apps::test {
namespace {

std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> all{"README.md", "CHANGELOG.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator("docs"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

TEST(Documentation, links_lead_to_files_that_are_there) {
  const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  int followed = 0;
  for (const auto& page : pages()) {
    const std::string text = contents(page.string());
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1];
      if (target.starts_with("http")) continue;
      EXPECT_TRUE(std::filesystem::exists(page.parent_path() / target)) << page.string() << ": " << target;
      ++followed;
    }
  }
  EXPECT_GT(followed, 50);
}

}  // namespace
}  // namespace krill::apps::test
