#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/case/effective.hpp"
#include "apps/case/method_text.hpp"
#include "apps/report/rank_parts.hpp"
#include "apps/report/report.hpp"
#include "apps/support/machine.hpp"
#include "apps/support/matrix_json.hpp"
#include "sparse/core/config.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

template <class Names, class Enum>
std::string_view choice(const Names& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

Json residual_json(const SolveRecord& record) {
  const SolveReport& r = record.result;
  const StopOptions& stop = krill::stop(record.settings.solver);
  return {{"true_relative", r.true_relative},
          {"recurrence_relative", r.recurrence_relative},
          {"initial_relative", r.initial_relative},
          {"target_relative", r.target_relative},
          {"rounding_relative", r.rounding_relative > 0 ? Json(r.rounding_relative) : Json()},
          {"norm", "2-norm of b - A x, not preconditioned"},
          {"baseline", choice(baseline_names, stop.baseline)},
          {"baseline_norm", r.baseline},
          {"true_norm", record.residual_norm},
          {"rhs_norm", r.rhs_norm},
          {"solution_norm", record.solution_norm},
          {"restarts_from_truth", r.restarts_from_truth},
          {"pivot_row", r.pivot_row ? Json(*r.pivot_row) : Json()},
          {"history", r.history}};
}

constexpr std::size_t max_listed = 1000;  // systems or columns

std::map<std::string_view, std::int64_t> status_counts(const std::vector<SystemResult>& systems) {
  std::map<std::string_view, std::int64_t> counts;
  for (const SystemResult& system : systems) ++counts[name(system.reason)];
  return counts;
}

/// How often each status came up, the worst system of a batch, and those that did not converge, as far as there is
/// room.
Json systems_json(const SolveRecord& record) {
  const SolveReport& r = record.result;
  if (r.systems.empty() || !record.columns.empty()) return {};
  Json failed = Json::array();
  const auto one = [&](std::size_t j) -> Json {
    const SystemResult& system = r.systems[j];
    return {{"system", j},
            {"status", name(system.reason)},
            {"true_relative", system.true_relative},
            {"zero_pivot_row", system.pivot_row ? Json(*system.pivot_row) : Json()}};
  };
  for (std::size_t j = 0; j < r.systems.size(); ++j)
    if (r.systems[j].reason != Reason::converged && failed.size() < max_listed) failed.push_back(one(j));
  return {{"count", r.systems.size()},
          {"rows", record.matrix.rows / std::ssize(r.systems)},
          {"statuses", status_counts(r.systems)},
          {"worst", one(r.worst_system)},
          {"not_converged", std::move(failed)}};
}

/// What became of each of several right-hand sides, as far as there is room: those that did not converge first.
Json columns_json(const SolveRecord& record) {
  if (record.columns.empty()) return {};
  const SolveReport& r = record.result;
  std::vector<std::size_t> order(r.systems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > max_listed) {
    std::ranges::stable_partition(order, [&](std::size_t j) { return r.systems[j].reason != Reason::converged; });
    order.resize(max_listed);
  }
  Json each = Json::array();
  for (const std::size_t j : order) {
    const SystemResult& column = r.systems[j];
    each.push_back({{"column", j},
                    {"status", name(column.reason)},
                    {"iterations", column.iterations},
                    {"true_relative", column.true_relative},
                    {"target_relative", column.target_relative},
                    {"rhs_norm", column.rhs_norm},
                    {"kept_initial_guess", column.kept_initial_guess},
                    {"solve_ms", 1000 * column.seconds}});
  }
  return {{"count", r.systems.size()},
          {"statuses", status_counts(r.systems)},
          {"worst", r.worst_system},
          {"each", std::move(each)}};
}

Json matrix_section(const SolveRecord& record) {
  const MatrixOrigin& origin = record.origin;
  Json json{{"source", origin.name}};
  json.update(matrix_json(record.matrix));
  if (origin.kind)
    json["file"] = {{"format", name(origin.kind->format)},
                    {"field", name(origin.kind->field)},
                    {"symmetry", name(origin.kind->symmetry)},
                    {"dense", origin.kind->dense},
                    {"checksum", origin.checksum}};
  if (origin.canonical) json["canonicalization"] = canonical_json(*origin.canonical);
  return json;
}

Json known(double figure) { return figure < 0 ? Json() : Json(figure); }

Json verification_json(const SolveRecord& record) {
  const Verification& v = record.verification;
  Json json = {{"reference", choice(reference_names, record.settings.verify.reference)}};
  if (v.state == Verification::State::not_asked) return json;
  json["verdict"] = name(v.judgement.verdict);
  if (v.state == Verification::State::not_run) {
    json["reason"] = v.why_not;
    return json;
  }
  const Judgement& j = v.judgement;
  json["reason"] = j.reason.empty() ? Json() : Json(j.reason);
  json["judge"] = j.judge;
  json["method"] = j.method;
  json["residual"] = known(j.residual);
  json["tolerance"] = known(j.tolerance);
  json["tolerance_rule"] =
      "target + (longest row + 4) eps || |A||x| + |b| ||: what was claimed and what rounding can add to it; norms "
      "relative to the baseline";
  json["reference_residual"] = known(j.reference_residual);
  json["difference"] = known(j.difference);
  json["difference_tolerance"] = known(j.difference_tolerance);
  json["error"] = known(j.error);
  json["error_limit"] = record.settings.verify.tolerance > 0 ? Json(record.settings.verify.tolerance) : Json();
  json["error_expected"] = known(j.error_expected);
  json["condition_estimate"] = known(j.condition);
  json["seconds"] = j.seconds;
  for (const Judgement& column : v.columns)
    json["columns"].push_back({{"column", column.column},
                               {"verdict", name(column.verdict)},
                               {"residual", known(column.residual)},
                               {"tolerance", known(column.tolerance)},
                               {"error", known(column.error)}});
  return json;
}

Json device_json(const SolveRecord& record) {
  if (!record.device) return {};
  const DeviceInfo& d = *record.device;
  return {{"name", d.name},
          {"compute_capability", d.compute_capability},
          {"driver", d.driver},
          {"runtime", d.runtime},
          {"memory_bytes", d.memory_bytes}};
}

/// Who had which rows, where several processes solved together.
Json team_json(const SolveRecord& record) {
  if (record.ranks.empty()) return {};
  Json parts = Json::array();
  for (const RankReport& rank : record.ranks) {
    const std::size_t r = parts.size();
    const RankPlace place = r < record.rank_places.size() ? record.rank_places[r] : RankPlace{};
    Json part{{"host", place.host},
              {"threads", place.threads},
              {"device", place.device.empty() ? Json() : Json(place.device)}};
    part.update(part_json(rank, record.precision));
    part["setup_ms"] = rank.setup_ms, part["solve_ms"] = rank.solve_ms;
    parts.push_back(std::move(part));
  }
  return {{"ranks", record.ranks.size()},
          {"partition", partition_name(record.settings.parallel.partition)},
          {"transport", record.transport.empty() ? Json() : Json(record.transport)},
          {"matrix", record.why_whole.empty() ? "own rows" : "whole"},
          {"why_whole", record.why_whole.empty() ? Json() : Json(record.why_whole)},
          {"imbalance", imbalance(record.ranks)},
          {"parts", std::move(parts)}};
}

Json host_json() {
  return {{"name", host_name()}, {"processor", processor()}, {"operating_system", operating_system()}};
}

Json timings_json(const Timings& t) {
  return {{"read", t.read},         {"assemble", t.assemble},
          {"analyze", t.analyze},   {"choose", t.choose},
          {"match", t.match},       {"scale", t.scale},
          {"order", t.order},       {"convert", t.convert},
          {"products", t.products}, {"preconditioner_setup", t.preconditioner_setup},
          {"solve", t.solve},       {"total", t.total}};
}

Json products_json(const SpmvReport& products) {
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(); };
  return {{"method", products.method},      {"why", products.why},
          {"matrix_bytes", products.bytes}, {"csr_bytes", products.csr_bytes},
          {"ms", known(products.ms)},       {"csr_ms", known(products.csr_ms)},
          {"setup_ms", products.setup_ms},  {"break_even", known(products.break_even)}};
}

Json scaling_json(const SolveRecord& record) {
  const TransformationReport& t = record.transformation;
  Json json = {{"type", scaling_name(record)}};
  if (scaling_name(record) != "none")
    json["least_factor"] = t.scaling.least, json["greatest_factor"] = t.scaling.greatest;
  return json;
}

Json matching_json(const SolveRecord& record) {
  const TransformationReport& t = record.transformation;
  Json json = {{"type", matching_name(record)}};
  if (matching_name(record) == "none") return json;
  json["moved_rows"] = t.moved_rows, json["has_greatest_product"] = t.has_greatest_product;
  json["least_factor"] = t.matching.least, json["greatest_factor"] = t.matching.greatest;
  return json;
}

Json ordering_json(const SolveRecord& record) {
  const TransformationReport& t = record.transformation;
  Json json = {{"type", ordering_name(record)}};
  if (ordering_name(record) == "none") return json;
  json["bandwidth_before"] = t.bandwidth_before;
  json["bandwidth"] = t.bandwidth;
  if (t.colors > 0) json["colors"] = t.colors;
  return json;
}

/// `entries`: those of all levels.
Json level_json(const LevelReport& level, double entries) {
  const auto over = [](auto part, auto whole) {
    return whole > 0 ? Json(static_cast<double>(part) / static_cast<double>(whole)) : Json();
  };
  Json steps = Json::object(), aggregates;  // null: there is no next level
  for (const auto& [step, ms] : level.steps) steps[std::string(step)] = ms;
  if (level.aggregates > 0)
    aggregates = {{"count", level.aggregates},
                  {"least", level.least_aggregate},
                  {"mean", over(level.aggregated, level.aggregates)},
                  {"greatest", level.greatest_aggregate},
                  {"block_dim", level.block_dim}};
  return {{"rows", level.rows},
          {"entries", level.entries},
          {"mean_row", over(level.entries, level.rows)},
          {"longest_row", level.longest_row},
          {"share_of_entries", over(level.entries, entries)},
          {"products", level.format},
          {"memory_bytes", level.bytes},
          {"max_eigenvalue", level.max_eigenvalue},
          {"aggregates", aggregates},
          {"not_aggregated", level.not_aggregated},
          {"transfer_entries", level.transfer_entries},
          {"dead_columns", level.dead_columns},
          {"setup_ms", level.setup_ms},
          {"setup_steps_ms", steps},
          {"visits", level.visits},
          {"cycle_entries", level.cycle_entries}};
}

}  // namespace

Json versions_json() {
  return {{"krill", version},
          {"commit", git_commit()},
          {"compiler", cxx_compiler},
          {"build_type", build_type},
          {"cuda", with_cuda ? Json(cuda_compiler) : Json()}};
}

Json preconditioner_json(const PreconditionerReport& p) {
  Json json = {{"symbolic_ms", p.symbolic_ms}, {"numeric_ms", p.numeric_ms}, {"memory_bytes", p.bytes}};
  for (const Fact& fact : p.facts) std::visit([&](const auto& value) { json[fact.name] = value; }, fact.value);
  double entries = 0;
  for (const LevelReport& level : p.levels) entries += static_cast<double>(level.entries);
  for (const LevelReport& level : p.levels) json["level"].push_back(level_json(level, entries));
  return json;
}

Json attempts_json(const std::vector<Attempt>& attempts) {
  Json all = Json::array();
  for (const Attempt& a : attempts) {
    const bool ran = a.refusal.empty();
    all.push_back({{"why", a.why},
                   {"method", method_text(a.method)},
                   {"in_double", a.in_double},
                   {"status", ran ? name(a.reason) : "refused"},
                   {"refusal", ran ? Json() : Json(a.refusal)},
                   {"iterations", a.iterations},
                   {"true_relative", ran ? Json(a.true_relative) : Json()},
                   {"condition_estimate", a.condition > 0 ? Json(a.condition) : Json()},
                   {"ms", a.milliseconds}});
  }
  return all;
}

nlohmann::ordered_json report_json(const SolveRecord& record) {
  const Advice help = advice(record);
  Json json = {{"schema_version", 2},
               {"status", status(record)},
               {"exit_code", exit_code(record)},
               {"name", record.settings.name},
               {"solver", solver_name(record)},
               {"preconditioner", preconditioner_name(record)},
               {"iterations", record.result.iterations}};
  if (!help.why.empty()) json["why"] = help.why;
  if (!help.remedy.empty()) json["remedy"] = help.remedy;
  json["residual"] = residual_json(record);
  json["systems"] = systems_json(record);
  json["columns"] = columns_json(record);
  json["steps"] = steps_json(record.steps);
  json["backward_error"] = record.backward_error;
  json["known_error"] = record.known_error ? Json(*record.known_error) : Json();
  json["kept_initial_guess"] = record.result.kept_initial_guess;
  json["verification"] = verification_json(record);
  json["timings_ms"] = timings_json(record.timings);
  json["matrix"] = matrix_section(record);
  json["backend"] = record.on_cuda ? "cuda" : "host";
  json["device"] = device_json(record);
  json["host"] = host_json();
  json["threads"] = record.threads;
  json["team"] = team_json(record);
  json["precision"] = choice(precision_names, record.precision);
  json["format"] = format_used(record);
  json["matching"] = matching_json(record);
  json["scaling"] = scaling_json(record);
  json["ordering"] = ordering_json(record);
  json["products"] = products_json(record.products);
  json["preconditioner_setup"] = preconditioner_json(record.preconditioner);
  json["choices"] = Json::object();
  for (const auto& [key, why] : record.choices) json["choices"][key] = why;
  json["attempts"] = attempts_json(record.attempts);
  json["memory_bytes"] = record.memory_bytes;
  json["memory_peak_bytes"] = record.memory_peak_bytes;
  json["peak_host_memory_bytes"] = record.peak_host_bytes;
  json["notes"] = record.notes;
  json["files"] = record.files;
  json["started_at"] = record.started_at;
  json["versions"] = versions_json();
  json["case"] = written_case(record.settings);
  if (!record.steps.empty() && record.matrix.rows == 0)  // all steps are of earlier runs
    for (const char* unknown : {"matrix", "products", "preconditioner_setup", "memory_bytes", "memory_peak_bytes"})
      json[unknown] = nullptr;
  return json;
}

std::string report_text(const SolveRecord& record) {
  return report_json(record).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace krill::apps
