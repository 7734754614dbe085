#include "krill/apps/case/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "krill/apps/case/check.hpp"
#include "krill/apps/case/fill.hpp"

namespace krill::apps {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

std::string all_lines(const std::vector<Diagnostic>& found) {
  std::string text;
  for (const auto& [source, line, column, message] : found) {
    if (!text.empty()) text += '\n';
    text += source;
    if (line > 0) text += fmt::format(":{}", line);
    if (line > 0 && column > 0) text += fmt::format(":{}", column);
    text += ": " + message;
  }
  return text;
}

std::string read_text(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw CaseError({{path, 0, 0, "is a folder; expected a YAML file"}});
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CaseError({{path, 0, 0, fmt::format("cannot be read: {}", std::strerror(errno))}});
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) throw CaseError({{path, 0, 0, fmt::format("cannot be read: {}", std::strerror(errno))}});
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most_bytes)
    throw CaseError({{path, 0, 0, "is longer than 1 MiB; expected a YAML case (is this the matrix?)"}});
  return text;
}

/// The file name without folder and last extension.
std::string default_name(const std::string& source) {
  const std::string stem = std::filesystem::path(source).stem().string();
  return stem.empty() || stem.starts_with('.') ? "case" : stem;
}

}  // namespace

CaseError::CaseError(std::vector<Diagnostic> found) : Error(all_lines(found)), diagnostics(std::move(found)) {}

Case load_case(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_case(read_text(path), path, overrides);
}

Case parse_case(const std::string& text, const std::string& source, const std::vector<std::string>& overrides) {
  std::vector<Diagnostic> found;
  const auto refuse_if_found = [&] {
    if (found.empty()) return;
    std::stable_sort(found.begin(), found.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.line, a.column) < std::tie(b.line, b.column);  // options, which have no line, first
    });
    throw CaseError(std::move(found));
  };
  YamlNode root = read_yaml(text, source, found);
  const bool readable = found.empty() || root.kind == YamlNode::Kind::map;
  if (!readable) refuse_if_found();
  for (const auto& option : overrides) apply_setting(root, option, "--set " + option, found);
  if (root.kind == YamlNode::Kind::null) {
    found.push_back({source, 1, 1, "the case is empty; it needs at least matrix and solver"});
  } else if (root.kind != YamlNode::Kind::map) {
    found.push_back(
        {source, root.place.line, root.place.column, "expected keys such as 'solver:' at the top of a case"});
  }
  if (root.kind != YamlNode::Kind::map) refuse_if_found();

  const auto checked = check_section(root, case_keys(), found);
  refuse_if_found();
  Case c;
  c.name = default_name(source);
  FromJson::fill(c, checked);
  check_together(root, c, found);
  refuse_if_found();
  return c;
}

}  // namespace krill::apps
