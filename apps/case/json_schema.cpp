#include "apps/case/json_schema.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "apps/case/case_file.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Key::Kind;
using Form = SchemaWriter::Form;

Json text_schema() { return {{"type", "string"}, {"minLength", 1}}; }

/// One of them, or a list of some.
Json one_or_list(const Json& one) { return {{"anyOf", {one, {{"type", "array"}, {"minItems", 1}, {"items", one}}}}}; }

/// Of a definition.
std::string name_of(const std::string& key, Form form) {
  return key + (form == Form::whole ? "" : form == Form::part ? "_of_part" : "_with_lists");
}
Json reference(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

/// The words that stand for a section with that type and nothing else; for a file's, any name.
Json word_schema(const Key& key, Form form) {
  Json schema{{"enum", Json::array()}};
  for (const Alternative& one : key.alternatives) {
    if (!one.key.empty()) return text_schema();
    if (form != Form::whole || std::ranges::none_of(one.keys(), &Key::required)) schema["enum"].push_back(one.type);
  }
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

/// A whole case, or a part of one, in a file.
Json file_schema(SchemaWriter& writer, Form form) {
  Json schema = writer.section(case_file_keys(), form);
  schema["properties"]["include"].update(SchemaWriter::include());
  schema["properties"]["variants"].update(writer.variants());
  return schema;
}

}  // namespace

/// {if: this alternative is chosen, then: its keys}.
Json SchemaWriter::branch(const Key& variant, const Alternative& alternative, Form form) {
  Json then = section(alternative.keys(), form);
  Json chosen{{"type", "object"}};
  if (alternative.key.empty()) {
    Json properties{{variant.tag, {{"const", alternative.type}, {"description", alternative.doc}}}};
    properties.update(then["properties"]);
    then["properties"] = std::move(properties);
    chosen["properties"][variant.tag]["const"] = alternative.type;
  }
  chosen["required"] = {alternative.key.empty() ? variant.tag : alternative.key};
  return {{"if", std::move(chosen)}, {"then", std::move(then)}};
}

Json SchemaWriter::variant(const Key& key, Form form) {
  const Json tag{{"enum", types_of(key)}};
  Json selectors = Json::array({Json{{"required", {key.tag}}}}), rules = Json::array();
  for (const Alternative& alternative : key.alternatives) {
    if (!alternative.key.empty()) selectors.push_back({{"required", {alternative.key}}});
    rules.push_back(branch(key, alternative, form));
  }
  if (form == Form::whole) rules.push_back({{"anyOf", std::move(selectors)}});
  return {{"properties", {{key.tag, form == Form::lists ? one_or_list(tag) : tag}}},
          {"anyOf", {word_schema(key, form), {{"type", "object"}}}},
          {"allOf", std::move(rules)}};
}

Json SchemaWriter::once(const std::string& name, Json schema) {
  if (!definitions_.contains(name)) definitions_[name] = schema;
  return definitions_[name] == schema ? reference(name) : schema;
}

Json SchemaWriter::value(const Key& key, Form form) {
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
      return text_schema();
    case Kind::choice:
      for (const auto& name : key.choices) schema["enum"].push_back(choice_value(name));
      return schema;
    case Kind::section:
      return once(name_of(key.name, form), section(key.keys, form));
    case Kind::variant: {
      std::string& name = names_[{&key.alternatives.front().keys(), form}];
      if (!name.empty()) return reference(name);  // perhaps inside of the one that is being written
      const std::string registry = registry_of(key);
      name = name_of(registry.empty() ? key.name : registry, form);
      while (definitions_.contains(name)) name += '_';
      definitions_[name] = nullptr;
      definitions_[name] = variant(key, form);
      return reference(name);
    }
    case Kind::tree:
      return Json::object();
  }
  return schema;
}

Json SchemaWriter::entry(const Key& key, Form form) {
  Json schema{{"description", key.doc}};
  schema.update(form == Form::lists ? one_or_list(value(key, form)) : value(key, form));
  if (key.kind == Kind::variant && !key.required)
    schema["default"] = {{key.tag, key.fallback}};
  else if (!key.fallback.is_null() && key.fallback != "")
    schema["default"] = key.fallback;
  return schema;
}

Json SchemaWriter::section(const std::vector<Key>& keys, Form form) {
  Json schema{{"type", "object"}, {"properties", Json::object()}};
  for (const Key& key : keys) {
    schema["properties"][key.name] = entry(key, form);
    if (key.required && form == Form::whole) schema["required"].push_back(key.name);
  }
  schema["additionalProperties"] = false;
  return schema;
}

Json SchemaWriter::include() { return one_or_list(text_schema()); }

Json SchemaWriter::variants() {
  const Json variant = once("variant", section(case_keys(), Form::lists));
  return {{"anyOf",
           {{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", variant}},
            {{"type", "array"}, {"minItems", 1}, {"items", variant}}}}};
}

Json case_schema() {
  SchemaWriter writer;
  Json whole = file_schema(writer, Form::whole), part = file_schema(writer, Form::part);
  // What is missing in the file may stand in an included one, or in every variant.
  Json is_part{{"anyOf", {{{"required", {"include"}}}, {{"required", {"variants"}}}}}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Krill case"},
          {"description", "One sparse linear system A x = b, and how to solve it with krill solve"},
          {"if", std::move(is_part)},
          {"then", std::move(part)},
          {"else", std::move(whole)},
          {"$defs", writer.definitions()}};
}

}  // namespace krill::apps
