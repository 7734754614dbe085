#include "apps/evaluate/sweep_schema.hpp"

#include <utility>

#include "apps/case/case_file.hpp"
#include "apps/case/json_schema.hpp"
#include "apps/evaluate/sweep.hpp"

namespace krill::apps::evaluate {

nlohmann::ordered_json sweep_schema() {
  using Form = SchemaWriter::Form;
  nlohmann::ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                {"title", "Krill sweep"},
                                {"description", "Systems, and ways to solve them that krill evaluate compares"}};
  SchemaWriter writer;
  schema.update(writer.section(sweep_keys(), Form::whole));
  auto& keys = schema["properties"];
  keys["include"].update(SchemaWriter::include());
  auto shared = writer.section(case_file_keys(), Form::part);
  shared["properties"].erase("include");  // which stands at the top of files
  shared["properties"]["variants"].update(writer.variants());
  keys["case"]["anyOf"] = {{{"type", "string"}, {"minLength", 1}}, std::move(shared)};
  keys["grid"].update(writer.section(grid_keys(), Form::lists));
  keys["variants"].update(writer.variants());
  schema["$defs"] = writer.definitions();
  return schema;
}

}  // namespace krill::apps::evaluate
