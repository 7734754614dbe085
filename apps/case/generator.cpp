#include "apps/case/generator.hpp"

#include <fmt/format.h>

#include "apps/case/check.hpp"
#include "apps/case/fill.hpp"
#include "apps/case/suggest.hpp"

namespace krill::apps {

GeneratorOptions parse_generator(const std::string& name, const std::vector<std::string>& settings) {
  const Key& matrix = case_key("matrix");
  const Alternative* chosen = matrix.alternative(name);
  if (!chosen) {
    const auto types = types_of(matrix);
    throw InvalidArgument(
        fmt::format("there is no generator '{}'{}\n  expected {}", name, did_you_mean(name, types), one_of(types)));
  }
  std::vector<Diagnostic> found;
  YamlNode root;
  root.kind = YamlNode::Kind::map;
  for (const auto& setting : settings) apply_setting(root, setting, setting, found);
  auto json = check_section(root, chosen->keys(), found);
  if (!found.empty()) throw CaseError(std::move(found));

  GeneratorOptions options;
  json[matrix.tag] = name;
  FromJson::fill(options, matrix.tag, json);
  return options;
}

}  // namespace krill::apps
