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
  schema.erase("oneOf");
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

/// A value or, in place of a section, the word that is short for it; lists may stand in the place of values.
Json short_or_long(Json schema) {
  allow_lists(schema);
  if (schema.value("type", "") == "object") schema = {{"anyOf", {schema, {{"type", "string"}, {"minLength", 1}}}}};
  return schema;
}

Json list_of(const Json& items) { return {{"type", "array"}, {"minItems", 1}, {"items", items}}; }

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
  for (auto& [name, schema] : part["properties"].items()) {
    const Json value = short_or_long(schema);
    schema = {{"anyOf", {value, list_of(value)}}};
  }
  return {{"anyOf", {{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", part}}, list_of(part)}}};
}

Json grid_schema() {
  Json grid{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  const Json part = part_schema();
  for (const auto& [name, schema] : part.at("properties").items()) {
    if (name == "name" || name == "verify" || name == "output") continue;
    const Json value = short_or_long(schema);
    grid["properties"][name] = {{"anyOf", {value, list_of(value)}}};
  }
  return grid;
}

}  // namespace krill::apps
