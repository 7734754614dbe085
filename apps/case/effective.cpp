#include "apps/case/effective.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "apps/case/fill.hpp"
#include "apps/case/suggest.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

/// Whether YAML reads the text as that text without quotes; when in doubt, no.
bool is_plain(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '_'; };
  const auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  if (text.empty() || !letter(text.front()) || !std::all_of(text.begin(), text.end(), inside)) return false;
  for (const std::string word : {"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
    if (edit_distance(text, word) == 0) return false;
  return true;
}

/// The fewest digits that give the same number back, and a point, without which some readers take 1e-8 for text.
std::string yaml_number(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (const auto e = text.find('e'); e != std::string::npos && text.find('.') == std::string::npos)
    text.insert(e, ".0");
  return text;
}

void append_yaml(std::string& yaml, const Json& section, const std::string& indent) {
  for (const auto& [name, value] : section.items()) {
    yaml += indent + name + ":";
    if (value.is_object()) {
      yaml += '\n';
      append_yaml(yaml, value, indent + "  ");
    } else {
      yaml += " " + yaml_scalar(value) + "\n";
    }
  }
}

/// Takes every key out of a section of `whole` without which `whole` says the same, but for those that have to be
/// there.
void drop_defaults(Json& section, Json& whole, const Json& effective) {
  const Json before = section;
  for (const auto& [name, value] : before.items()) {
    if (&section == &whole ? !case_key(name).required : name != "type") {
      const Json with = section;
      section.erase(name);
      Case read;
      FromJson::fill(read, whole);
      if (effective_json(read) == effective) continue;
      section = with;
    }
    if (value.is_object() && name != "matrix") drop_defaults(section[name], whole, effective);
  }
}

/// $${ for ${ in every text.
void write_out(Json& json) {
  if (json.is_string()) json = without_variables(json.get<std::string>());
  if (json.is_object())
    for (auto& [name, value] : json.items()) write_out(value);
}

}  // namespace

std::string yaml_scalar(const Json& value) {
  if (value.is_number_float()) return yaml_number(value.get<double>());
  if (value.is_array()) {
    std::string list;
    for (const Json& item : value) list += (list.empty() ? "" : ", ") + yaml_scalar(item);
    return "[" + list + "]";
  }
  if (value.is_string() && is_plain(value.get_ref<const std::string&>())) return value.get<std::string>();
  return value.dump();
}

std::string without_variables(std::string text) {
  for (std::size_t at = 0; (at = text.find("${", at)) != std::string::npos; at += 3) text.insert(at, "$");
  return text;
}

std::string ToJson::absolute(const std::string& path) {
  std::string whole = std::filesystem::absolute(path).lexically_normal().string();
  return text_length(whole) == whole.size() ? whole : path;
}

Json effective_json(const Case& c) {
  Case copy = c;  // describe() takes what it describes as changeable
  return ToJson::dump(copy);
}

Json written_case(const Case& c) {
  Json json = effective_json(c);
  write_out(json);
  return json;
}

std::string effective_yaml(const Case& c) {
  std::string yaml;
  append_yaml(yaml, written_case(c), "");
  return yaml;
}

std::string brief_yaml(const Case& c, const std::string& folder) {
  const Json effective = effective_json(c);
  Json json = effective;
  drop_defaults(json, json, effective);
  for (const char* file :
       {"/matrix/file", "/matrix/batch", "/rhs/path", "/initial_guess/path", "/parallel/partition/file"})
    if (const Json::json_pointer at(file); json.contains(at))
      json[at] = std::filesystem::proximate(json[at].get<std::string>(), std::filesystem::absolute(folder)).string();
  write_out(json);
  std::string yaml;
  append_yaml(yaml, json, "");
  return yaml;
}

}  // namespace krill::apps
