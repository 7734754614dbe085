// Checks what a case says against what a case may say.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/case/keys.hpp"
#include "apps/case/yaml_tree.hpp"

namespace krill::apps {

/// Everything that `keys` allow of a section, as JSON with the right types; all else is booked. Relative paths of the
/// file start at the folder of the file, those of the command line at the current one.
nlohmann::ordered_json check_section(const YamlNode& section, const std::vector<Key>& keys,
                                     std::vector<Diagnostic>& found);

/// The alternative that a section asks for, or null where it asks for none or for two.
const Alternative* chosen_alternative(const YamlNode& section, const Key& variant);

/// What no key can say alone: keys that another one's value makes idle, names that cannot be a folder's.
void check_together(const YamlNode& root, const Case&, std::vector<Diagnostic>& found);

/// The case that the tree describes, or nothing where something is wrong with it, which is booked. `name` is its name
/// where it says none.
std::optional<Case> check_case(const YamlNode& root, const std::string& name, std::vector<Diagnostic>& found);

/// Raises CaseError with all that was found, each once: options first, then the lines of one file after the other.
void refuse_if_any(std::vector<Diagnostic> found);

/// Raises CaseError, with what was found before, where the text is not a map; messages call it `what` and say what it
/// needs.
void require_map(const YamlNode& root, const std::string& source, std::string_view what, std::string_view needs,
                 std::vector<Diagnostic>& found);

/// The file name without folder and last extension, "case" where that is no name.
std::string default_name(const std::string& source);

}  // namespace krill::apps
