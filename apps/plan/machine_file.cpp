#include "apps/plan/machine_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/case/case_file.hpp"
#include "apps/case/check.hpp"
#include "apps/case/fill.hpp"
#include "apps/support/module_places.hpp"

namespace krill::apps {
namespace {

const std::vector<Key>& machine_keys() {
  static const std::vector<Key> keys = [] {
    KeyCollector collector;
    Machine defaults;
    describe(collector, defaults);
    return std::move(collector.keys);
  }();
  return keys;
}

void book(const YamlNode& at, std::string message, std::vector<Diagnostic>& found) {
  found.push_back({at.place.source, at.place.line, at.place.column, std::move(message)});
}

/// Every key has to be there: a prediction with a figure that nobody gave would be wrong in silence.
void require_all(const YamlNode& section, const std::vector<Key>& keys, const std::string& path,
                 std::vector<Diagnostic>& found) {
  for (const Key& key : keys) {
    const std::string name = path + key.name;
    const YamlNode* value = section.find(key.name);
    if (!value)
      book(section, fmt::format("{} is missing: {}", name, key.doc), found);
    else if (key.kind == Key::Kind::section)
      require_all(*value, key.keys, name + ".", found);
    else if (key.name == "source" && !value->text.starts_with("measured: ") && !value->text.starts_with("assumed: "))
      book(*value, fmt::format("{} is '{}', expected {}", name, value->text, figure_source), found);
  }
}

}  // namespace

Machine read_machine(const std::string& path) {
  std::vector<Diagnostic> found;
  const YamlNode root = read_yaml(read_yaml_text(path), path, found);
  if (!found.empty() && root.kind != YamlNode::Kind::map) refuse_if_any(found);
  require_map(root, path, "machine", "figures, as data/machines/h200.yaml has them", found);
  const auto json = check_section(root, machine_keys(), found);
  if (found.empty()) require_all(root, machine_keys(), "", found);
  refuse_if_any(std::move(found));
  Machine machine;
  FromJson::fill(machine, json);
  machine.file = path;
  return machine;
}

std::string shipped_machine(bool for_cuda) {
  const std::vector<std::filesystem::path> places = machine_places(for_cuda ? "h200.yaml" : "host.yaml");
  std::error_code unknown;
  const auto there =
      std::ranges::find_if(places, [&](const auto& place) { return std::filesystem::exists(place, unknown); });
  return there != places.end() ? there->string() : "";
}

}  // namespace krill::apps
