#include "apps/case/case_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/case/parts.hpp"
#include "sparse/io/numbers.hpp"

namespace krill::apps {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;
constexpr int max_files = 100;  // files that include others twice each would double in number with every step

/// What includes are merged by: the keys of a case, those of the case in a sweep, and maps that grow by whole entries.
const std::vector<Key>& keys_to_merge() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all = case_keys();
    for (const char* name : {"variants", "grid", "case"}) all.emplace_back().name = name;
    all.back().keys = case_keys();
    return all;
  }();
  return keys;
}

/// Replaces every ${NAME} in `text`, and returns what is wrong with it. $${ stands for ${ itself.
std::string fill_in(std::string& text, bool environment) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find("${", at), text.size());
    filled += text.substr(at, begin - at);
    if (begin == text.size()) break;
    if (filled.ends_with('$')) {
      filled += '{';
      at = begin + 2;
      continue;
    }
    if (!environment) return "environment variables are filled in with the option --env only";
    const std::size_t end = text.find('}', begin);
    const std::string name = text.substr(begin + 2, end == std::string::npos ? end : end - begin - 2);
    if (end == std::string::npos || name.empty()) return "expected a name and a } behind ${, as in ${HOME}";
    const char* value = std::getenv(name.c_str());
    if (!value)
      return fmt::format("the environment has no variable {}; set it, or write its value out", in_quotes(name));
    if (text_length(value) != std::strlen(value))
      return fmt::format("the environment variable {} is not UTF-8 text", in_quotes(name));
    filled += value;
    at = end + 1;
  }
  text = std::move(filled);
  return {};
}

class Reader {
 public:
  Reader(bool environment, std::vector<Diagnostic>& found) : environment_(environment), found_(found) {}

  YamlNode read(const std::string& text, const std::string& source) {
    YamlNode root = read_yaml(text, source, found_);
    fill_in_values(root);
    write_out_words(root);
    if (YamlNode* of_sweep = root.find("case")) write_out_words(*of_sweep);
    chain_.push_back(source);
    root = with_includes(std::move(root));
    chain_.pop_back();
    return root;
  }

 private:
  void refuse(const YamlNode& node, std::string message) {
    found_.push_back({node.place.source, node.place.line, node.place.column, std::move(message)});
  }

  void fill_in_values(YamlNode& node) {
    if (node.text.find("${") != std::string::npos) {
      const std::string problem = fill_in(node.text, environment_);
      if (!problem.empty()) refuse(node, fmt::format("{}: {}", in_quotes(node.text), problem));
    }
    for (YamlNode& item : node.items) fill_in_values(item);
    for (auto& [key, value] : node.entries) fill_in_values(value);
  }

  YamlNode with_includes(YamlNode root) {
    const auto at = std::ranges::find_if(root.entries, [](const auto& entry) { return entry.key.text == "include"; });
    if (at == root.entries.end()) return root;
    YamlNode names = std::move(at->value);
    root.entries.erase(at);
    if (names.kind != YamlNode::Kind::sequence) names.items = {YamlNode(names)};
    YamlNode under;
    under.kind = YamlNode::Kind::map;
    for (const YamlNode& name : names.items)
      if (const YamlNode part = included(name); part.kind == YamlNode::Kind::map)
        under = merged(under, part, keys_to_merge());
    under = merged(under, root, keys_to_merge());
    under.place = root.place;
    return under;
  }

  YamlNode included(const YamlNode& name) {
    if (name.kind != YamlNode::Kind::scalar || name.text.empty()) {
      refuse(name, "include has to be the name of a file, or a list of names");
      return {};
    }
    const std::string path = path_of(name);
    const auto same = [&](const std::string& file) {
      std::error_code unknown;
      return std::filesystem::equivalent(file, path, unknown);
    };
    if (std::ranges::any_of(chain_, same)) {
      refuse(name, fmt::format("{} is included by itself: {}", path, chain_to(path)));
      return {};
    }
    if (++files_ > max_files) {
      if (files_ == max_files + 1) refuse(name, fmt::format("more than {} files are included", max_files));
      return {};
    }
    return read_included(name, path);
  }

  YamlNode read_included(const YamlNode& name, const std::string& path) {
    std::string text;
    try {
      text = read_yaml_text(path);
    } catch (const CaseError& error) {
      const std::string chain = chain_.size() > 1 ? " (" + chain_to(path) + ")" : "";
      refuse(name, fmt::format("the included file {}{}", error.what(), chain));
      return {};
    }
    YamlNode part = read(text, path);
    if (part.kind == YamlNode::Kind::scalar || part.kind == YamlNode::Kind::sequence)
      refuse(part, "expected keys such as 'solver:' at the top of a file that is included");
    return part;
  }

  std::string chain_to(const std::string& path) const {
    std::string text;
    for (const std::string& file : chain_) text += file + " -> ";
    return text + path;
  }

  bool environment_;
  std::vector<Diagnostic>& found_;
  std::vector<std::string> chain_;  // the file that is read, behind those that include it
  int files_ = 0;
};

}  // namespace

const std::vector<Key>& case_file_keys() {
  static const std::vector<Key> keys = [] {
    KeyCollector collector;
    collector.tree("include", include_value, include_doc);
    collector.keys.insert(collector.keys.end(), case_keys().begin(), case_keys().end());
    collector.tree("variants", "a section of names and sections, or a list of sections",
                   "parts of cases: krill solve --variant NAME puts one over this case, krill evaluate runs them all");
    return std::move(collector.keys);
  }();
  return keys;
}

std::string read_yaml_text(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw CaseError({{path, 0, 0, "is a folder; expected a YAML file"}});
  std::ifstream in(path == "-" ? "/dev/stdin" : path, std::ios::binary);
  if (!in) throw CaseError({{path, 0, 0, fmt::format("cannot be read: {}", std::strerror(errno))}});
  std::string text(max_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) throw CaseError({{path, 0, 0, fmt::format("cannot be read: {}", std::strerror(errno))}});
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > max_bytes)
    throw CaseError({{path, 0, 0, "is longer than 1 MiB; expected a YAML case (is this the matrix?)"}});
  return text;
}

YamlNode read_tree(const std::string& text, const std::string& source, bool environment,
                   std::vector<Diagnostic>& found) {
  return Reader(environment, found).read(text, source);
}

}  // namespace krill::apps
