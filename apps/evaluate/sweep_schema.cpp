#include "apps/evaluate/sweep_schema.hpp"

#include "apps/case/json_schema.hpp"
#include "apps/case/part_schema.hpp"
#include "apps/evaluate/sweep.hpp"

namespace krill::apps::evaluate {

nlohmann::ordered_json sweep_schema() {
  nlohmann::ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                {"title", "Krill sweep"},
                                {"description", "Systems, and ways to solve them that krill evaluate compares"},
                                {"type", "object"}};
  schema.update(keys_schema(sweep_keys()));
  auto& keys = schema["properties"];
  keys["include"].update(include_schema());
  keys["case"]["anyOf"] = {{{"type", "string"}, {"minLength", 1}}, part_schema()};
  keys["grid"].update(grid_schema());
  keys["variants"].update(variants_schema());
  return schema;
}

}  // namespace krill::apps::evaluate
