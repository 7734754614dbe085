#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/evaluate/evaluation.hpp"
#include "apps/evaluate/names.hpp"
#include "apps/report/report.hpp"

namespace krill::apps::evaluate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<int, 3> solve_counts{1, 10, 100};

Json spread_json(const Spread& s) { return {{"median", s.median}, {"least", s.min}, {"greatest", s.max}}; }

Json parts_json(const Outcome& o) {
  const auto median = [&](double Sample::*part) {
    std::vector<double> values;
    for (const Sample& s : o.samples) values.push_back(s.*part);
    return spread(std::move(values)).median;
  };
  return {{"match", median(&Sample::match)},
          {"scale", median(&Sample::scale)},
          {"order", median(&Sample::order)},
          {"format_and_products", median(&Sample::convert)},
          {"preconditioner", median(&Sample::preconditioner)}};
}

Json run_json(const Run& run, std::size_t index) {
  const Outcome& o = run.outcome;
  Json json = to_json(o);
  Json head{{"id", index}, {"name", run.method}, {"system", run.system}, {"status", o.status}};
  const Spread setup = o.setup(), solve = o.solve();
  if (!o.samples.empty()) {
    head["setup_ms"] = spread_json(setup);
    head["setup_parts_ms"] = parts_json(o);
    head["solve_ms"] = spread_json(solve);
    head["ms_per_iteration"] = o.iterations > 0 ? Json(solve.median / o.iterations) : Json();
  }
  if (o.converged())
    for (const int solves : solve_counts) head["total_ms"][std::to_string(solves)] = o.total(solves);
  json.erase("status");
  json.erase("matrix");  // the system's
  head.update(json);
  head["from_journal"] = run.resumed;
  head["case"] = method_part(run.settings);
  return head;
}

/// Adds to the runs of a system how they stand, and returns the system's own section.
Json system_json(const Evaluation& all, const System& system, Json& runs) {
  Json json{{"name", system.name}};
  json.update(system.part);
  const auto told =
      std::ranges::find_if(system.runs, [&](std::size_t r) { return !all.runs[r].outcome.matrix.is_null(); });
  json["matrix_properties"] = told == system.runs.end() ? Json() : all.runs[*told].outcome.matrix;
  json["runs"] = system.runs;
  const SystemVerdict verdict = judge(all, system);
  if (verdict.solved.empty()) {
    json["recommendation"] = Json();
    return json;
  }
  const Cost& quickest = verdict.costs[verdict.rankings[0].front()];
  for (std::size_t k = 0; k < verdict.solved.size(); ++k) {
    Json& run = runs[verdict.solved[k]];
    run["pareto"] = static_cast<bool>(verdict.pareto[k]);
    const auto solves = break_even(verdict.costs[k], quickest);
    run["break_even"] = solves ? Json(*solves) : Json();
  }
  for (const Use use : all_uses) {
    const auto u = static_cast<std::size_t>(use);
    Json order = Json::array(), ties = Json::array();
    for (std::size_t place = 0; place < verdict.rankings[u].size(); ++place) {
      const std::size_t id = verdict.solved[verdict.rankings[u][place]];
      order.push_back(id);
      runs[id]["rank"][use_name(use)] = place + 1;
    }
    for (const std::size_t k : verdict.choices[u].ties) ties.push_back(verdict.solved[k]);
    json["ranking"][use_name(use)] = std::move(order);
    json["recommendation"][use_name(use)] = {{"run", verdict.chosen(use)},
                                             {"best", verdict.solved[verdict.choices[u].fastest]},
                                             {"ties", std::move(ties)},
                                             {"sentence", sentence(all, verdict, use)}};
  }
  json["pareto"] = Json::array();
  json["break_even"] = Json::array();
  for (std::size_t k = 0; k < verdict.solved.size(); ++k) {
    if (!verdict.pareto[k]) continue;
    json["pareto"].push_back(verdict.solved[k]);
    for (std::size_t other = 0; other < verdict.solved.size(); ++other) {
      if (other == k || !verdict.pareto[other]) continue;
      const auto solves = break_even(verdict.costs[k], verdict.costs[other]);
      if (solves && *solves > 1)
        json["break_even"].push_back(
            {{"run", verdict.solved[k]}, {"against", verdict.solved[other]}, {"solves", *solves}});
    }
  }
  for (const Step& step : verdict.envelope)
    json["quickest_from"].push_back({{"solves", step.from}, {"run", verdict.solved[step.index]}});
  return json;
}

Json overall_json(const Evaluation& all) {
  const Overall overall = judge_together(all);
  Json json;
  for (const Use use : all_uses) {
    Json order = Json::array();
    for (const Standing& s : overall.standings[static_cast<std::size_t>(use)])
      order.push_back({{"name", overall.methods[s.method]},
                       {"solved", s.solved},
                       {"ratio", s.solved > 0 ? Json(s.ratio) : Json()}});
    json[std::string(use_name(use))] = {{"sentence", sentence(overall, all.systems.size(), use)},
                                        {"ranking", std::move(order)}};
  }
  return json;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string cell(const Json& json) {
  if (json.is_null()) return {};
  return quoted(json.is_string() ? json.get<std::string>() : json.dump());
}

/// The member at a path, or null.
Json at(const Json& json, std::string_view path) {
  const auto point = path.find('.');
  const auto found = json.find(std::string(path.substr(0, point)));
  if (found == json.end()) return {};
  return point == std::string_view::npos ? *found : found->is_object() ? at(*found, path.substr(point + 1)) : Json();
}

}  // namespace

Json evaluation_json(const Evaluation& all) {
  Json runs = Json::array();
  for (std::size_t r = 0; r < all.runs.size(); ++r) runs.push_back(run_json(all.runs[r], r));
  Json systems = Json::array();
  for (const System& system : all.systems) systems.push_back(system_json(all, system, runs));
  const auto best = best_run(all);
  Json json{{"name", all.options.name},
            {"status", all.status},
            {"started_at", all.started_at},
            {"seconds", all.seconds},
            {"best", best ? Json(*best) : Json()},
            {"overall", all.systems.size() > 1 ? overall_json(all) : Json()},
            {"systems", std::move(systems)},
            {"runs", std::move(runs)},
            {"settings",
             {{"portfolio", portfolio_names[static_cast<std::size_t>(all.options.portfolio)]},
              {"budget_s", all.options.budget},
              {"time_limit_s", all.options.time_limit},
              {"repeats", all.options.repeats}}},
            {"environment", all.environment},
            {"versions", versions_json()}};
  return json;
}

std::string evaluation_csv(const Evaluation& all) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> columns{
      {{"variant", "name"},
       {"status", "status"},
       {"iterations", "iterations"},
       {"setup_ms", "setup_ms.median"},
       {"solve_ms", "solve_ms.median"},
       {"ms_per_iteration", "ms_per_iteration"},
       {"total_1_ms", "total_ms.1"},
       {"total_10_ms", "total_ms.10"},
       {"total_100_ms", "total_ms.100"},
       {"memory_bytes", "memory_bytes"},
       {"true_relative_residual", "true_relative"},
       {"target", "target_relative"},
       {"rank_one_solve", "rank.one_solve"},
       {"rank_many_solves", "rank.many_solves"},
       {"rank_least_memory", "rank.least_memory"},
       {"pareto", "pareto"},
       {"break_even_solves", "break_even"},
       {"precision", "precision"},
       {"format", "format"},
       {"backend", "backend"},
       {"why", "why"},
       {"remedy", "remedy"}}};
  std::string csv = "system";
  for (const auto& [title, path] : columns) csv += fmt::format(",{}", title);
  csv += '\n';
  const Json json = evaluation_json(all);
  for (const Json& run : json.at("runs")) {
    csv += quoted(all.systems.at(run.at("system").get<std::size_t>()).name);
    for (const auto& [title, path] : columns) csv += "," + cell(at(run, path));
    csv += '\n';
  }
  return csv;
}

}  // namespace krill::apps::evaluate
