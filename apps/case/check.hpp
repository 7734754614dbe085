// Checks what a case says against what a case may say.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "krill/apps/case/keys.hpp"
#include "krill/apps/case/yaml_tree.hpp"

namespace krill::apps {

/// Everything that `keys` allow of a section, as JSON with the right types; all else is booked. Relative paths of the
/// file start at the folder of the file, those of the command line at the current one.
nlohmann::ordered_json check_section(const YamlNode& section, const std::vector<Key>& keys,
                                     std::vector<Diagnostic>& found);

/// What no key can say alone: keys that another one's value makes idle, names that cannot be a folder's.
void check_together(const YamlNode& root, const Case&, std::vector<Diagnostic>& found);

}  // namespace krill::apps
