// The JSON Schema of sweeps, made of that of cases.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace krill::apps::evaluate {

nlohmann::ordered_json sweep_schema();

}  // namespace krill::apps::evaluate
