#include "apps/case/part_schema.hpp"

#include "apps/case/json_schema.hpp"
#include "apps/case/keys.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

/// Calls f on every schema of a key, innermost first; the conditions under `if` are none.
template <class F>
void for_each_key(Json& schema, F&& f) {
  if (const auto properties = schema.find("properties"); properties != schema.end())
    for (auto& [name, inner] : properties->items()) {
      for_each_key(inner, f);
      f(name, inner);
    }
  if (const auto branches = schema.find("allOf"); branches != schema.end())
    for (Json& branch : *branches) for_each_key(branch.at("then"), f);
}

/// Leaves it open which keys have to be there.
void relax(Json& schema) {
  schema.erase("required");
  if (const auto forms = schema.find("anyOf"); forms != schema.end())
    for (Json& form : *forms) form.erase("required"), form.erase("oneOf");
  if (const auto branches = schema.find("allOf"); branches != schema.end())
    for (Json& branch : *branches) branch.at("then").erase("required");
}

/// A list may stand in the place of a value.
void allow_lists(Json& schema) {
  for_each_key(schema, [](const std::string&, Json& inner) {
    if (inner.contains("const")) return;  // the name of a type, which branches are chosen by
    Json one = std::move(inner);
    inner = {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
  });
}

Json list_of(const Json& items) { return {{"type", "array"}, {"minItems", 1}, {"items", items}}; }

/// A value in which lists may stand in the place of values, or a list of those.
Json value_or_list(Json schema) {
  allow_lists(schema);
  return {{"anyOf", {schema, list_of(schema)}}};
}

}  // namespace

Json part_schema() {
  Json schema = keys_schema(case_keys());
  for_each_key(schema, [](const std::string&, Json& inner) { relax(inner); });
  relax(schema);
  schema["type"] = "object";
  return schema;
}

Json include_schema() {
  const Json name{{"type", "string"}, {"minLength", 1}};
  return {{"anyOf", {name, list_of(name)}}};
}

Json variants_schema() {
  Json part = part_schema();
  for (auto& [name, schema] : part["properties"].items()) schema = value_or_list(std::move(schema));
  return {{"anyOf", {{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", part}}, list_of(part)}}};
}

Json grid_schema() {
  Json grid{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  const Json part = part_schema();
  for (const auto& [name, schema] : part.at("properties").items()) {
    if (name == "name" || name == "verify" || name == "output") continue;
    grid["properties"][name] = value_or_list(schema);
  }
  return grid;
}

}  // namespace krill::apps
