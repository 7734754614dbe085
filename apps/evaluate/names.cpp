#include "apps/evaluate/names.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/case/effective.hpp"

namespace krill::apps::evaluate {
namespace {

using Json = nlohmann::ordered_json;

/// The path of a section's keys, which are those of its type.
std::string inside(const std::string& path, const Json& section) {
  for (const char* tag : {"type", "generate"})
    if (const auto at = section.find(tag); at != section.end())
      return fmt::format("{}:{}.", path, at->get<std::string>());
  return path + ".";
}

template <class F>
void walk(const Json& json, const std::string& prefix, F&& f) {
  for (const auto& [name, value] : json.items()) {
    const std::string path = prefix + name;
    if (value.is_object())
      walk(value, inside(path, value), f);
    else if (name != "type" && name != "generate")
      f(path, name, value);
  }
}

std::string type(const Json& json, const char* key) {
  const Json& section = json.at(key);
  return section.value("type", section.value("generate", ""));
}

void join(std::string& text, const std::string& part, std::string_view between) {
  if (!part.empty()) text += (text.empty() ? "" : std::string(between)) + part;
}

/// "thermal" of "data/thermal.mtx.gz".
std::string short_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.', 1));
}

}  // namespace

Json system_part(const Case& settings) {
  const Json all = effective_json(settings);
  const Json& stop = all.at("solver").at("stop");
  return {{"matrix", all.at("matrix")},
          {"rhs", all.at("rhs")},
          {"initial_guess", all.at("initial_guess")},
          {"stop",
           {{"relative", stop.at("relative")}, {"baseline", stop.at("baseline")}, {"absolute", stop.at("absolute")}}}};
}

Json method_part(const Case& settings) {
  Json all = effective_json(settings);
  for (const char* key : {"name", "matrix", "rhs", "initial_guess", "verify", "output"}) all.erase(key);
  for (const char* key : {"relative", "baseline", "absolute"}) all.at("solver").at("stop").erase(key);
  return all;
}

Names::Names(const std::vector<Case>& cases, const std::vector<Case>& unnamed) {
  for (const Case& one : cases) note(system_part(one));
  for (const Case& one : unnamed) {
    note(method_part(one));
    Case plain = one;  // what differs from the defaults of a preconditioner is told, even where all variants share it
    std::visit([](auto& options) { options = {}; }, plain.preconditioner);
    note(method_part(plain));
  }
}

void Names::note(const Json& part) {
  walk(part, "",
       [&](const std::string& path, const std::string&, const Json& value) { values_[path].insert(value.dump()); });
  for (const auto& [name, value] : part.items())
    if (value.is_object() && (value.contains("type") || value.contains("generate")))
      values_[name].insert(value.value("type", value.value("generate", "")));
}

/// Automatic is what goes without saying.
bool Names::tells(const std::string& path, const Json& value) const {
  return values_.at(path).size() > 1 && value != "auto" && value != "automatic";
}

std::string Names::options(const Json& json, const std::string& path) const {
  std::string text;
  walk(json, inside(path, json), [&](const std::string& full, const std::string& name, const Json& value) {
    if (tells(full, value)) join(text, name + "=" + yaml_scalar(value), ", ");
  });
  return text.empty() ? text : "(" + text + ")";
}

std::string Names::others(const Json& json, const std::set<std::string>& without) const {
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (without.contains(name)) continue;
    if (value.is_object())
      walk(value, inside(name, value), [&](const std::string& path, const std::string& key, const Json& one) {
        if (tells(path, one)) join(text, key + "=" + yaml_scalar(one), ", ");
      });
    else if (tells(name, value))
      join(text, value.is_string() ? value.get<std::string>() : name + "=" + yaml_scalar(value), ", ");
  }
  return text;
}

std::string Names::method(const Case& settings) const {
  const Json json = method_part(settings);
  std::string text = type(json, "solver") + options(json.at("solver"), "solver") + " + " +
                     type(json, "preconditioner") + options(json.at("preconditioner"), "preconditioner");
  if (type(json, "ordering") != "none") text += ", " + type(json, "ordering") + " order";
  if (type(json, "scaling") != "none") text += ", " + type(json, "scaling") + " scaling";
  if (type(json, "matching") != "none") text += ", " + type(json, "matching") + " matching";
  join(text, others(json, {"solver", "preconditioner", "ordering", "scaling", "matching"}), ", ");
  return text;
}

std::string Names::system(const Case& settings) const {
  const Json json = system_part(settings);
  const Json& matrix = json.at("matrix");
  std::string text = matrix.contains("file")    ? short_name(matrix.at("file").get<std::string>())
                     : matrix.contains("batch") ? short_name(matrix.at("batch").get<std::string>())
                                                : type(json, "matrix") + options(matrix, "matrix");
  for (const char* key : {"rhs", "initial_guess"})
    if (values_.at(key).size() > 1 || !options(json.at(key), key).empty())
      text += fmt::format(", {} {}{}", key, type(json, key), options(json.at(key), key));
  join(text, others(json, {"matrix", "rhs", "initial_guess"}), ", ");
  return text;
}

}  // namespace krill::apps::evaluate
