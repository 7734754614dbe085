// The JSON Schemas of parts of cases, of which files and sweeps are made.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace krill::apps {

/// The keys of a case, any of which may be missing.
nlohmann::ordered_json part_schema();

/// What `include` and `variants` may be, and the lists of values for keys of a case.
nlohmann::ordered_json include_schema();
nlohmann::ordered_json variants_schema();
nlohmann::ordered_json grid_schema();

}  // namespace krill::apps
