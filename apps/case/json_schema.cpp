#include "apps/case/json_schema.hpp"

#include <algorithm>
#include <utility>

#include "apps/case/case_file.hpp"
#include "apps/case/part_schema.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Key::Kind;

Json schema_of(const Key&, const Within& = {});

/// The properties of a section, the required ones of them, and no others.
Json section_schema(const std::vector<Key>& keys, const Within& within = {}) {
  Json schema{{"properties", Json::object()}};
  for (const Key& key : keys) {
    schema["properties"][key.name] = schema_of(key, within);
    if (key.required) schema["required"].push_back(key.name);
  }
  schema["additionalProperties"] = false;
  return schema;
}

/// {if: this alternative is chosen, then: its keys}.
Json branch(const Key& variant, const Alternative& alternative, const Within& within) {
  Json then = section_schema(alternative.keys(), Within(within, alternative));
  if (!alternative.key.empty()) return {{"if", {{"required", {alternative.key}}}}, {"then", std::move(then)}};
  Json properties{{variant.tag, {{"const", alternative.type}, {"description", alternative.doc}}}};
  properties.update(then["properties"]);
  then["properties"] = std::move(properties);
  Json chosen{{"properties", {{variant.tag, {{"const", alternative.type}}}}}, {"required", {variant.tag}}};
  return {{"if", std::move(chosen)}, {"then", std::move(then)}};
}

/// The words that stand for a section with that type and nothing else; for a file's, any name.
Json word_schema(const Key& key) {
  Json schema{{"enum", Json::array()}};
  for (const Alternative& one : key.alternatives) {
    if (!one.key.empty()) return {{"type", "string"}, {"minLength", 1}};
    if (std::ranges::none_of(one.keys(), &Key::required)) schema["enum"].push_back(one.type);
  }
  return schema;
}

/// Alternatives inside of themselves, or inside of two others of the variant, are named, and their keys left to the
/// program, for there would be too many.
Json variant_schema(const Key& key, const Within& within) {
  Json section{{"type", "object"}};
  Json schema{{"properties", {{key.tag, {{"enum", types_of(key)}}}}}};
  Json selectors = Json::array({Json{{"required", {key.tag}}}}), branches = Json::array();
  const bool is_deep = std::ranges::count_if(key.alternatives, [&](const auto& a) { return within.has(a); }) > 1;
  for (const Alternative& alternative : key.alternatives) {
    if (!alternative.key.empty()) selectors.push_back({{"required", {alternative.key}}});
    if (!is_deep && !within.has(alternative)) branches.push_back(branch(key, alternative, within));
  }
  if (selectors.size() > 1)
    section["oneOf"] = std::move(selectors);
  else
    section["required"] = {key.tag};
  schema["anyOf"] = {std::move(section), word_schema(key)};
  for (auto& one : branches) schema["allOf"].push_back(std::move(one));
  return schema;
}

Json range_schema(const Key& key) {
  Json schema{{"type", key.kind == Kind::integer ? "integer" : "number"}};
  const auto bound = [&](double value) {
    return key.kind == Kind::integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  const auto& [least, most, without_min, without_max] = key.range;
  if (least > Range{}.min) schema[without_min ? "exclusiveMinimum" : "minimum"] = bound(least);
  if (most < Range{}.max) schema[without_max ? "exclusiveMaximum" : "maximum"] = bound(most);
  return schema;
}

Json kind_schema(const Key& key, const Within& within) {
  Json schema;
  switch (key.kind) {
    case Kind::integer:
    case Kind::number:
      return range_schema(key);
    case Kind::numbers:
      return {{"type", "array"},
              {"items", {{"type", "number"}}},
              {"minItems", static_cast<std::int64_t>(key.range.min)},
              {"maxItems", static_cast<std::int64_t>(key.range.max)}};
    case Kind::boolean:
      return {{"type", "boolean"}};
    case Kind::text:
    case Kind::path:
      return {{"type", "string"}, {"minLength", 1}};
    case Kind::choice:
      for (const auto& name : key.choices) schema["enum"].push_back(choice_value(name));
      return schema;
    case Kind::section:
      schema = section_schema(key.keys, within);
      schema["type"] = "object";
      return schema;
    case Kind::variant:
      return variant_schema(key, within);
    case Kind::tree:
      return Json::object();
  }
  return schema;
}

Json schema_of(const Key& key, const Within& within) {
  Json schema{{"description", key.doc}};
  schema.update(kind_schema(key, within));
  if (key.kind == Kind::variant && !key.required)
    schema["default"] = {{key.tag, key.fallback}};
  else if (!key.fallback.is_null() && key.fallback != "")
    schema["default"] = key.fallback;
  return schema;
}

}  // namespace

Json keys_schema(const std::vector<Key>& keys) { return section_schema(keys); }

Json case_schema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "Krill case"},
              {"description", "One sparse linear system A x = b, and how to solve it with krill solve"},
              {"type", "object"}};
  schema.update(section_schema(case_file_keys()));
  schema["properties"]["include"].update(include_schema());
  schema["properties"]["variants"].update(variants_schema());
  // What is missing here may stand in an included file, or in every variant.
  const Json required = std::exchange(schema["required"], nullptr);
  schema.erase("required");
  schema["if"] = {{"not", {{"anyOf", {{{"required", {"include"}}}, {{"required", {"variants"}}}}}}}};
  schema["then"] = {{"required", required}};
  return schema;
}

}  // namespace krill::apps
