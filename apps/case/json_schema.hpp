// The JSON Schema of a case, so that editors complete and check what they show.
#pragma once
#include <nlohmann/json.hpp>

namespace krill::apps {

/// Draft 2020-12. It allows what load_case() allows, but for what only the meaning of several keys together shows.
nlohmann::ordered_json case_schema();

}  // namespace krill::apps
