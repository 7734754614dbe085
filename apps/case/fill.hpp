// The visitors between the structs of a case and JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/case/keys.hpp"

namespace krill::apps {

/// Fills options with checked JSON; what is not there keeps its default.
class FromJson {
 public:
  explicit FromJson(const nlohmann::ordered_json& json) : json_(json) {}

  template <class T>
  void value(std::string_view name, T& target, Range, std::string_view) {
    if (const auto* found = find(name)) found->get_to(target);
  }
  void value(std::string_view name, std::optional<double>& target, Range, std::string_view) {
    if (const auto* found = find(name)) target = found->get<double>();
  }
  void numbers(std::string_view name, std::vector<double>& target, Range, std::string_view) {
    if (const auto* found = find(name)) found->get_to(target);
  }
  void path(std::string_view name, std::string& target, Need, std::string_view) {
    if (const auto* found = find(name)) found->get_to(target);
  }
  template <class Enum, class Names>
  void choice(std::string_view name, Enum& target, const Names& names, std::string_view) {
    if (const auto* found = find(name))
      for (std::size_t i = 0; i < names.size(); ++i)
        if (*found == choice_value(names[i])) target = static_cast<Enum>(i);
  }
  template <class Options>
  void section(std::string_view name, Options& target, std::string_view) {
    if (const auto* found = find(name)) fill(target, *found);
  }
  template <class Variant>
  void variant(std::string_view name, std::string_view tag, Variant& target, Need, std::string_view) {
    if (const auto* found = find(name)) fill(target, tag, *found);
  }
  void tree(std::string_view, std::string_view, std::string_view) {}

  template <class Options>
  static void fill(Options& target, const nlohmann::ordered_json& json) {
    FromJson fields(json);
    describe(fields, target);
  }
  /// The alternative that the JSON names under `tag`.
  template <class Variant>
  static void fill(Variant& target, std::string_view tag, const nlohmann::ordered_json& json) {
    for_each_alternative<Variant>([&]<class Options>(std::type_identity<Options>) {
      if (!chosen<Options>(json, tag)) return;
      Options options;
      fill(options, json);
      target = std::move(options);
    });
  }

 private:
  template <class Options>
  static bool chosen(const nlohmann::ordered_json& json, std::string_view tag) {
    if constexpr (requires { Options::key; })
      return json.contains(Options::key);
    else
      return json.contains(tag) && json.at(std::string(tag)) == Options::type;
  }
  const nlohmann::ordered_json* find(std::string_view name) const {
    const auto at = json_.find(name);
    return at == json_.end() ? nullptr : &*at;
  }

  const nlohmann::ordered_json& json_;
};

/// Writes options as JSON, defaults included.
class ToJson {
 public:
  nlohmann::ordered_json json = nlohmann::ordered_json::object();

  template <class T>
  void value(std::string_view name, const T& source, Range, std::string_view) {
    json[std::string(name)] = source;
  }
  void value(std::string_view name, const std::optional<double>& source, Range, std::string_view) {
    if (source) json[std::string(name)] = *source;
  }
  void numbers(std::string_view name, const std::vector<double>& source, Range, std::string_view) {
    if (!source.empty()) json[std::string(name)] = source;
  }
  void path(std::string_view name, const std::string& source, Need, std::string_view) {
    if (!source.empty()) json[std::string(name)] = absolute(source);
  }
  template <class Enum, class Names>
  void choice(std::string_view name, const Enum& source, const Names& names, std::string_view) {
    json[std::string(name)] = choice_value(names[static_cast<std::size_t>(source)]);
  }
  template <class Options>
  void section(std::string_view name, Options& source, std::string_view) {
    json[std::string(name)] = dump(source);
  }
  template <class Variant>
  void variant(std::string_view name, std::string_view tag, Variant& source, Need, std::string_view) {
    visit_alternative(source, [&]<class Options>(Options& options) {
      auto section = nlohmann::ordered_json::object();
      if constexpr (requires { Options::type; }) section[std::string(tag)] = Options::type;
      section.update(dump(options));
      json[std::string(name)] = std::move(section);
    });
  }

  template <class Options>
  static nlohmann::ordered_json dump(Options& options) {
    ToJson fields;
    describe(fields, options);
    return std::move(fields.json);
  }

 private:
  static std::string absolute(const std::string& path);
};

}  // namespace krill::apps
