#include "apps/case/fill.hpp"
#include "apps/inspect/inspection.hpp"
#include "apps/support/matrix_json.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

Json place(const std::optional<std::int32_t>& row) { return row ? Json(*row) : Json(); }

Json lines_json(const DenseLines& lines) {
  return {{"count", lines.count}, {"limit", lines.limit}, {"first", place(lines.first)}};
}

Json structure_json(const Structure& s) {
  Json lengths = Json::array(), orders = Json::array();
  for (const auto& [length, rows] : s.rows_by_length) lengths.push_back({length, rows});
  for (const OrderLevels& o : s.orders)
    orders.push_back({{"order", o.order},
                      {"lower_levels", o.lower},
                      {"upper_levels", o.upper},
                      {"widest_level", o.widest},
                      {"colors", o.colors > 0 ? Json(o.colors) : Json()}});
  Json json{{"rows_by_length", lengths},
            {"dense_rows", lines_json(s.dense_rows)},
            {"dense_cols", lines_json(s.dense_cols)},
            {"block_dim", s.block_dim},
            {"block_fill", s.block_fill},
            {"triangular_levels", orders}};
  if (s.components)
    json["components"] = {{"count", s.components->count},
                          {"largest", s.components->largest},
                          {"single", s.components->single},
                          {"first_outside", place(s.components->first_outside)}};
  if (s.scaled_row_spread > 0) json["row_spread_after_scaling"] = s.scaled_row_spread;
  return json;
}

Json suggestion_json(const Inspection& i) {
  SolveOptions method = i.choice.method;
  const auto part = [](auto& variant) {
    Json json;
    visit_alternative(variant, [&]<class Options>(Options& options) {
      json["type"] = Options::type;
      json.update(ToJson::dump(options));
    });
    return json;
  };
  Json reasons = Json::object();
  for (const auto& [key, why] : i.choice.reasons) reasons[key] = why;
  return {{"backend", i.for_cuda ? "cuda" : "host"},
          {"solver", part(method.solver)},
          {"preconditioner", part(method.preconditioner)},
          {"ordering", part(method.ordering)},
          {"scaling", part(method.scaling)},
          {"matching", part(method.matching)},
          {"reasons", reasons}};
}

}  // namespace

nlohmann::ordered_json inspection_json(const Inspection& i) {
  Json file{{"format", name(i.kind.format)},
            {"field", name(i.kind.field)},
            {"symmetry", name(i.kind.symmetry)},
            {"dense", i.kind.dense},
            {"vector", i.kind.vector},
            {"checksum", i.checksum},
            {"rhs", i.rhs_name.empty() ? Json() : Json(i.rhs_name)}};
  Json result{{"source", i.path}};
  result.update(matrix_json(i.properties));
  result["file"] = std::move(file);
  result["canonicalization"] = canonical_json(i.canonical);
  result["structure"] = structure_json(i.structure);
  result["findings"] = Json::array();
  for (const Finding& f : i.findings)
    result["findings"].push_back({{"severity", severity_names[static_cast<std::size_t>(f.severity)]},
                                  {"name", f.name},
                                  {"what", f.what},
                                  {"row", place(f.row)},
                                  {"why", f.why},
                                  {"remedy", f.remedy}});
  result["suggestion"] = i.can_be_solved() ? suggestion_json(i) : Json();
  return result;
}

}  // namespace krill::apps
