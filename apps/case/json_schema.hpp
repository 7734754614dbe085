// The JSON Schema of a case, so that editors complete and check what they show.
#pragma once
#include <vector>

#include "apps/case/keys.hpp"

namespace krill::apps {

/// Draft 2020-12. It allows what load_case() allows, but for what only the meaning of several keys together shows.
nlohmann::ordered_json case_schema();
/// The properties of a section with these keys, and no others.
nlohmann::ordered_json keys_schema(const std::vector<Key>&);

}  // namespace krill::apps
