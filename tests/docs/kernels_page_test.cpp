// docs/kernels.md names what the library has, and nothing that it has not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "apps/verify/gallery.hpp"
#include "solvers/options.hpp"
#include "solvers/precond/options.hpp"
#include "sparse/formats/format.hpp"
#include "tests/apps/solve_support.hpp"

namespace krill::apps::test {
namespace {

using Names = std::set<std::string>;

const std::string& page() {
  static const std::string text = contents("docs/kernels.md");
  return text;
}

Names matches(const std::string& text, const std::string& pattern, std::size_t group = 0) {
  const std::regex expression(pattern);
  Names found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.insert((*at)[static_cast<int>(group)]);
  return found;
}
/// What stands in backticks.
Names quoted(const std::string& text) { return matches(text, "`([^`\n]+)`", 1); }
Names words(const std::string& text) { return matches(text, "[A-Za-z_]\\w*"); }

/// A row of a table: cells by the heads of their columns.
using Row = std::map<std::string, std::string>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) {
    const std::size_t from = cell.find_first_not_of(' ');
    all.push_back(from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(' ') - from + 1));
  }
  return all;
}

std::vector<Row> rows(const std::string& text) {
  std::vector<Row> all;
  std::istringstream lines(text);
  std::vector<std::string> heads;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      heads.clear();
    } else if (heads.empty()) {
      heads = cells(line);
    } else if (!line.starts_with("|---")) {
      const auto found = cells(line);
      EXPECT_EQ(found.size(), heads.size()) << line;
      for (std::size_t c = 0; c < std::min(found.size(), heads.size()); ++c)
        (c ? all.back() : all.emplace_back())[heads[c]] = found[c];
    }
  }
  return all;
}

/// From that heading to the next.
std::string section(const std::string& heading) {
  const std::size_t from = page().find("\n## " + heading + "\n");
  if (from == std::string::npos) return ADD_FAILURE() << "no section " << heading, "";
  return page().substr(from + 1, page().find("\n## ", from + 1) - from);
}

/// What a section calls Krill's, in the table that has that column, too.
Names column(const std::string& heading, const std::string& beside) {
  Names names;
  for (const Row& row : rows(section(heading)))
    if (row.contains(beside)) names.merge(quoted(row.at("Krill")));
  return names;
}

template <class... Options>
Names types(std::type_identity<std::variant<Options...>>) {
  return {std::string(Options::type)...};
}

TEST(KernelsPage, has_the_storage_formats) {
  Names formats;
  for (const FormatFacts& f : format_facts) formats.emplace(f.name);
  EXPECT_EQ(column("Storage formats", "type"), formats);
}

TEST(KernelsPage, has_the_preconditioners) {
  EXPECT_EQ(column("Preconditioners", "options"), types(std::type_identity<PreconditionerOptions>()));
}

TEST(KernelsPage, has_the_solvers) {
  EXPECT_EQ(column("Solvers", "options"), types(std::type_identity<SolverOptions>()));
}

/// `krill verify --all` checks every kernel; the first word of a check is the operation.
TEST(KernelsPage, has_every_operation_that_is_verified) {
  Context ctx = Context::host(1);
  Names operations;
  verify::Ledger ledger([&](const verify::Check& check) {
    if (const Names first = matches(check.name, "^[A-Za-z_]\\w*"); !first.empty()) operations.merge(Names(first));
  });
  verify::verify_gallery(ledger, ctx, {}, 30);
  EXPECT_GT(operations.size(), 40U);
  const Names known = words(page());
  for (const std::string& operation : operations) EXPECT_TRUE(known.contains(operation)) << operation;
}

/// But for what is theirs, every file and every word in backticks in a table is one of the code.
TEST(KernelsPage, names_what_is_there) {
  Names code = words(contents("CMakeLists.txt"));
  for (const char* folder : {"sparse", "solvers", "apps/commands"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() != ".md") code.merge(words(contents(entry.path())));
  int files = 0, names = 0;
  for (const Row& row : rows(page()))
    for (const auto& [head, cell] : row) {
      if (head == "ID" || head == "theirs" || head == "tests") continue;
      for (const std::string& text : quoted(cell)) {
        if (text.starts_with("-D")) continue;  // an option of CMake
        if (text.ends_with(".hpp")) {
          const auto there = [](const std::string& path) { return std::filesystem::exists(path); };
          EXPECT_TRUE(there("sparse/" + text) || there("sparse/" + text + ".in") || there(text)) << text;
          ++files;
          continue;
        }
        for (const std::string& word : words(text)) {
          EXPECT_TRUE(code.contains(word)) << word << " in " << text;
          ++names;
        }
      }
    }
  EXPECT_GT(files, 40);
  EXPECT_GT(names, 300);
}

/// Done, without a counterpart, and all of a group of the catalogue's IDs.
using Counts = std::array<std::size_t, 3>;

TEST(KernelsPage, counts_the_ids_of_the_catalogue) {
  std::map<std::string, Names> all, undone, unmatched;
  for (const Row& row : rows(page())) {
    if (!row.contains("ID")) continue;
    for (const std::string& id : matches(row.at("ID"), "[A-Z0-9]+-[A-Z0-9-]+")) {
      const std::string group = id.substr(0, id.find('-'));
      all[group].insert(id);
      const std::string& mark = row.at("");
      EXPECT_TRUE(mark == "☑" || mark == "☐") << id;
      if (mark == "☑") continue;
      undone[group].insert(id);
      if (row.at("Krill").starts_with("no counterpart: ")) unmatched[group].insert(id);
    }
  }
  std::map<std::string, Counts> found, told;
  Counts& sum = found["all"];
  for (const auto& [group, ids] : all) {
    found[group] = {ids.size() - undone[group].size(), unmatched[group].size(), ids.size()};
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += found[group][k];
  }
  for (const Row& row : rows(page()))
    if (row.contains("group"))
      told[row.at("group")] = {std::stoul(row.at("there")), std::stoul(row.at("no counterpart")),
                               std::stoul(row.at("IDs"))};
  EXPECT_EQ(told, found);
  EXPECT_EQ(sum.back(), 331U);
}

/// "spmv" of `spmv(ctx, ...)`, "cuda" of `Context::cuda({})`: what the first words in backticks call.
std::string first_name(const std::string& cell) {
  std::smatch name;
  return std::regex_search(cell, name, std::regex("`(?:\\w+(?:::|\\.))*(\\w+)[^`]*`")) ? name[1].str() : "";
}

/// A row names the tests of what it names, or says why there is none.
TEST(KernelsPage, names_tests_that_use_what_is_named) {
  const std::string listed = contents("tests/CMakeLists.txt");
  std::map<std::string, Names> used;
  int named = 0;
  for (const Row& row : rows(page())) {
    if (!row.contains("tests")) continue;
    const std::string &tests = row.at("tests"), &krill = row.at("Krill");
    if (row.contains("ID") && row.at("") == "☑" && !tests.starts_with("none: ")) {
      EXPECT_NE(tests, "") << row.at("ID") << ' ' << row.at("theirs") << " has no test";
    }
    for (const std::string& test : quoted(tests)) {
      ++named;
      if (test.starts_with("install/")) {
        EXPECT_NE(listed.find("add_test(NAME " + test + " "), std::string::npos) << test;
        continue;
      }
      const std::string file = test + "_test.cpp";
      EXPECT_NE(listed.find(file), std::string::npos) << file;
      if (!used.contains(file)) used[file] = words(contents("tests/" + file));
      EXPECT_TRUE(used[file].contains(first_name(krill))) << file << " does not use the first name of " << krill;
    }
  }
  EXPECT_GT(named, 200);
}

}  // namespace
}  // namespace krill::apps::test
