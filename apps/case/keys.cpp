#include "apps/case/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/case/suggest.hpp"

namespace krill::apps {
namespace {

// What an int can hold is nothing that a user chose, so it is not worth a word.
bool is_bound(double bound) {
  return std::isfinite(bound) && bound != std::numeric_limits<int>::min() && bound != std::numeric_limits<int>::max();
}

}  // namespace

const Alternative* Key::alternative(std::string_view type) const {
  const auto at = std::find_if(alternatives.begin(), alternatives.end(),
                               [&](const Alternative& one) { return !one.type.empty() && one.type == type; });
  return at == alternatives.end() ? nullptr : &*at;
}

nlohmann::ordered_json choice_value(std::string_view name) {
  const bool is_number = name.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? nlohmann::ordered_json::parse(name) : nlohmann::ordered_json(name);
}

const std::vector<Key>& case_keys() { return KeyCollector::keys_of<Case>(); }

const Key* find_key(const std::vector<Key>& keys, std::string_view name) {
  const auto at = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return at == keys.end() ? nullptr : &*at;
}

const Key& case_key(std::string_view name) {
  const Key* key = find_key(case_keys(), name);
  if (!key) throw InvalidArgument(fmt::format("a case has no key {}", name));
  return *key;
}

std::string registry_of(const Key& inner) {
  for (const Key& key : case_keys())
    if (!inner.alternatives.empty() && !key.alternatives.empty() &&
        key.alternatives.front().described == inner.alternatives.front().described)
      return key.name;
  return {};
}

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const auto& key : keys) names.push_back(key.name);
  return names;
}

std::vector<std::string> types_of(const Key& variant) {
  std::vector<std::string> types;
  for (const auto& alternative : variant.alternatives)
    if (!alternative.type.empty()) types.push_back(alternative.type);
  return types;
}

std::vector<std::string> sections_with(std::string_view name) {
  std::vector<std::string> found;
  const auto walk = [&](const auto& self, const std::vector<Key>& keys, const std::string& section,
                        const Within& within) -> void {
    if (find_key(keys, name) && std::find(found.begin(), found.end(), section) == found.end()) found.push_back(section);
    for (const Key& key : keys) {
      const std::string inner = section.empty() ? key.name : section + "." + key.name;
      self(self, key.keys, inner, within);
      if (!section.empty() && !registry_of(key).empty()) continue;
      for (const auto& alternative : key.alternatives)
        if (!within.has(alternative)) self(self, alternative.keys(), inner, Within(within, alternative));
    }
  };
  walk(walk, case_keys(), "", {});
  return found;
}

std::string range_text(const Key& key) {
  const auto& [least, most, without_min, without_max] = key.range;
  if (is_bound(least) && is_bound(most) && !without_min && !without_max) return fmt::format("{} to {}", least, most);
  auto below = is_bound(most) ? fmt::format("{} {}", without_max ? "below" : "at most", most) : std::string();
  if (!is_bound(least)) return below;
  return fmt::format("{} {}{}{}", without_min ? "above" : "at least", least, below.empty() ? "" : " and ", below);
}

std::string expectation(const Key& key) {
  const std::string range = range_text(key);
  const auto ranged = [&](std::string_view what) {
    if (range.empty()) return std::string(what);
    return fmt::format("{} {}{}", what,
                       range.starts_with("at ") ? "of "
                       : range.starts_with("a") ? ""
                                                : "from ",
                       range);
  };
  switch (key.kind) {
    case Key::Kind::integer:
      return ranged("an integer");
    case Key::Kind::number:
      return ranged("a number");
    case Key::Kind::numbers:
      return fmt::format("a list of {} numbers", range);
    case Key::Kind::boolean:
      return "true or false";
    case Key::Kind::text:
      return "text";
    case Key::Kind::path:
      return "the name of a file";
    case Key::Kind::choice:
      return one_of(key.choices);
    case Key::Kind::tree:
      return key.expected;
    case Key::Kind::section:
      return "a section with " + enumerate(names_of(key.keys), " and ");
    case Key::Kind::variant:
      break;
  }
  const std::string type = key.fallback.is_string() ? key.fallback.get<std::string>() : types_of(key).front();
  std::vector<std::string> examples{fmt::format("{{{}: {}}}", key.tag, type)};
  for (const auto& one : key.alternatives)
    if (!one.key.empty()) examples.push_back(fmt::format("{{{}: NAME}}", one.key));
  return fmt::format("a word such as {}, or a section such as {}", type, enumerate(examples));
}

}  // namespace krill::apps
