// The effective case: all keys, those that were left out with their defaults, paths absolute, so that it can be read
// again from anywhere; and the same in brief.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/case/case.hpp"

namespace krill::apps {

nlohmann::ordered_json effective_json(const Case&);
/// The same as a file with a case has it: $${ for ${.
nlohmann::ordered_json written_case(const Case&);
std::string effective_yaml(const Case&);
/// What differs from the defaults, for a file in `folder`: names of files start there.
std::string brief_yaml(const Case&, const std::string& folder);

/// One number, word or truth value as YAML, quoted only where it must be.
std::string yaml_scalar(const nlohmann::ordered_json&);

/// The text with $${ for ${, so that reading a case gives it back as it is.
std::string without_variables(std::string text);

}  // namespace krill::apps
