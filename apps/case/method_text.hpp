// A method in YAML's flow style: what differs from the defaults.
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "apps/case/effective.hpp"
#include "apps/case/fill.hpp"

namespace krill::apps {

/// "restart: 100, stop: {relative: 1e-6}": the keys whose values are not the usual ones. Where a section is of another
/// type than usual, it is there as a whole.
inline std::string differing_text(const nlohmann::ordered_json& values, const nlohmann::ordered_json& usual) {
  std::string text;
  const auto nothing = nlohmann::ordered_json::object();
  for (const auto& [key, value] : values.items()) {
    const bool known = usual.contains(key);
    const bool another =
        value.is_object() && value.contains("type") && (!known || value.at("type") != usual.at(key).at("type"));
    const std::string inner =
        value.is_object() ? differing_text(value, known && !another ? usual.at(key) : nothing) : "";
    if (value.is_object() ? inner.empty() : known && value == usual.at(key)) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key,
                        value.is_object() ? "{" + inner + "}" : yaml_scalar(value));
  }
  return text;
}

/// "{type: gmres, restart: 100}"; of a solver without its `stop`.
template <class Variant>
std::string options_text(Variant chosen) {
  std::string text;
  visit_alternative(chosen, [&]<class Options>(Options& options) {
    Options usual;
    nlohmann::ordered_json values = ToJson::dump(options);
    values.erase("stop");
    const std::string keys = differing_text(values, ToJson::dump(usual));
    text = fmt::format("{{type: {}{}{}}}", Options::type, keys.empty() ? "" : ", ", keys);
  });
  return text;
}

/// "{solver: {type: pcg}, preconditioner: {type: ic0}, ...}"
inline std::string method_text(const SolveOptions& method) {
  return fmt::format("{{solver: {}, preconditioner: {}, ordering: {}, scaling: {}, matching: {}}}",
                     options_text(method.solver), options_text(method.preconditioner), options_text(method.ordering),
                     options_text(method.scaling), options_text(method.matching));
}

}  // namespace krill::apps
