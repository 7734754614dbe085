#include "apps/case/file_list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "sparse/core/error.hpp"

namespace krill::apps {
namespace {

[[noreturn]] void raise_too_many(const std::string& name) {
  throw InvalidArgument(fmt::format("{}: this stands for more than {} files; name fewer", name, max_listed_files));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

/// "1..3" or "left,right" as words; one word, the braces themselves, where it is neither.
std::vector<std::string> words_in(std::string_view inside, const std::string& name) {
  std::vector<std::string> words;
  if (const std::size_t dots = inside.find(".."); dots != inside.npos) {
    const auto first = number(inside.substr(0, dots)), last = number(inside.substr(dots + 2));
    if (first && last) {
      const std::int64_t step = *first <= *last ? 1 : -1, distance = step * (*last - *first);
      if (distance >= static_cast<std::int64_t>(max_listed_files)) raise_too_many(name);
      for (std::int64_t k = 0; k <= distance; ++k)
        words.push_back(fmt::format("{:0{}}", *first + step * k, inside[0] == '0' ? dots : 1));
      return words;
    }
  }
  if (inside.find(',') == inside.npos) return {fmt::format("{{{}}}", inside)};
  for (std::size_t begin = 0; begin <= inside.size();) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    words.emplace_back(inside.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::vector<std::string> files_named(const std::string& name) {
  std::error_code ignored;
  if (name.find('{') == name.npos || std::filesystem::exists(name, ignored)) return {name};
  std::vector<std::string> names{""};
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t open = std::min(name.find('{', at), name.size()), close = name.find('}', open);
    const std::size_t end = close == name.npos ? name.size() : open;
    for (std::string& made : names) made += name.substr(at, end - at);
    at = end;
    if (at == name.size()) break;
    const std::vector<std::string> words = words_in(std::string_view(name).substr(open + 1, close - open - 1), name);
    if (names.size() * words.size() > max_listed_files) raise_too_many(name);
    std::vector<std::string> longer;
    for (const std::string& made : names)
      for (const std::string& word : words) longer.push_back(made + word);
    names = std::move(longer);
    at = close + 1;
  }
  return names;
}

}  // namespace krill::apps
