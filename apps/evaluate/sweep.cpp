#include "apps/evaluate/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "apps/case/check.hpp"
#include "apps/case/fill.hpp"
#include "apps/case/suggest.hpp"
#include "sparse/io/numbers.hpp"

namespace krill::apps::evaluate {
namespace {

constexpr std::size_t max_points = 5000;

void refuse(const YamlNode& node, std::string message, std::vector<Diagnostic>& found) {
  found.push_back({node.place.source, node.place.line, node.place.column, std::move(message)});
}

constexpr std::string_view chosen_by_portfolios[] = {"solver", "preconditioner", "ordering", "scaling", "matching"};
bool is_chosen_by_portfolios(const std::string& key) {
  return std::ranges::find(chosen_by_portfolios, key) != std::end(chosen_by_portfolios);
}

/// Keeps a grid whose keys are known and whose values are not empty, matrices first, so that runs with the same matrix
/// follow each other, then what else asks for a process of its own.
YamlNode checked_grid(const YamlNode& grid, std::vector<Diagnostic>& found) {
  const auto allowed = names_of(grid_keys());
  const auto is_allowed = [&](const YamlEntry& entry) {
    return std::ranges::find(allowed, entry.key.text) != allowed.end();
  };
  YamlNode kept = grid;
  if (grid.kind != YamlNode::Kind::map) {
    if (grid.kind != YamlNode::Kind::null)
      refuse(grid, "grid has to be a section: for keys of a case, lists of values", found);
    return {};
  }
  for (const YamlEntry& entry : grid.entries) {
    const std::string& name = entry.key.text;
    const std::string hint = did_you_mean(name, allowed);
    if (!is_allowed(entry))
      refuse(entry.key,
             fmt::format("unknown key {} in grid{} allowed: {}", in_quotes(name), hint.empty() ? ";" : hint,
                         enumerate(allowed, ", ")),
             found);
    else if (entry.value.kind == YamlNode::Kind::null || count_expanded(entry.value) == 0)
      refuse(entry.key, fmt::format("grid.{} is empty, expected a list of values", name), found);
  }
  std::erase_if(kept.entries,
                [&](const YamlEntry& entry) { return !is_allowed(entry) || count_expanded(entry.value) == 0; });
  const auto place = [](const YamlEntry& entry) {
    constexpr std::string_view first[] = {"matrix", "backend", "device", "threads", "precision"};
    return std::ranges::find(first, entry.key.text) - std::begin(first);
  };
  std::ranges::stable_sort(kept.entries, {}, place);
  return kept;
}

}  // namespace

const std::vector<Key>& sweep_keys() { return KeyCollector::keys_of<SweepOptions>(); }

std::vector<Key> grid_keys() {
  std::vector<Key> keys = case_keys();
  std::erase_if(keys,
                [](const Key& key) { return key.name == "name" || key.name == "verify" || key.name == "output"; });
  return keys;
}

Sweep::Sweep(const SweepInput& input) {
  std::vector<Diagnostic> found;
  read(input, found);
  choose_portfolio();
  check_points(found);
  refuse_if_any(std::move(found));
}

void Sweep::read(const SweepInput& input, std::vector<Diagnostic>& found) {
  YamlNode root;
  options_.name = default_name(input.path);
  const bool looks_like_yaml = input.path.ends_with(".yaml") || input.path.ends_with(".yml");
  if (!looks_like_yaml) {
    require_text_name(input.path);
    options_.name = name_of_matrix(input.path);
    root = section("case", section("matrix", section("file", word(input.path, {input.path, 0, 0}))));
    for (const auto& one : input.overrides) apply_case_setting(*root.find("case"), one, "--set " + one, found);
  } else {
    root = read_tree(read_yaml_text(input.path), input.path, input.environment, found);
    if (!found.empty() && root.kind != YamlNode::Kind::map) refuse_if_any(found);
    for (const auto& one : input.overrides) apply_case_setting(root, one, "--set " + one, found);
    require_map(root, input.path, "sweep", "a matrix: case: {matrix: {file: ...}}", found);
    is_case_ = !root.find("case") && !root.find("grid") && (root.find("matrix") || root.find("solver"));
    if (is_case_) root = section("case", std::move(root));
  }
  if (!input.backend.empty()) apply_setting(root, "case.backend=" + input.backend, "--backend " + input.backend, found);
  if (input.threads > 0)
    apply_setting(root, fmt::format("case.threads={}", input.threads), fmt::format("--threads {}", input.threads),
                  found);
  if (!input.portfolio.empty())
    apply_setting(root, "portfolio=" + input.portfolio, "--portfolio " + input.portfolio, found);
  if (input.budget >= 0)
    apply_setting(root, fmt::format("budget={}", input.budget), fmt::format("--budget {}", input.budget), found);
  if (const YamlNode* file = root.find("case"); file && file->kind == YamlNode::Kind::scalar) {
    const auto path = path_of(*file);
    *root.find("case") = read_tree(read_yaml_text(path), path, input.environment, found);
  }
  const auto checked = check_section(root, sweep_keys(), found);
  read_trees(root, found);
  if (const YamlNode* name = shared_.find("name"); is_case_ && name) options_.name = name->text;
  FromJson::fill(options_, checked);
}

void Sweep::read_trees(const YamlNode& root, std::vector<Diagnostic>& found) {
  shared_.kind = YamlNode::Kind::map;
  shared_.place = root.place;
  if (const YamlNode* shared = root.find("case")) {
    if (shared->kind != YamlNode::Kind::map) {
      refuse(*shared, "case has to be a section with keys of a case, or the name of a file with a case", found);
      refuse_if_any(found);  // all runs would miss what it should say
    }
    shared_ = *shared;
  }
  if (const YamlNode* grid = root.find("grid")) grid_ = checked_grid(*grid, found);
  for (const YamlNode* variants : {root.find("variants"), std::as_const(shared_).find("variants")})
    if (variants) std::ranges::move(read_variants(*variants, found), std::back_inserter(variants_));
  std::erase_if(shared_.entries, [](const YamlEntry& entry) { return entry.key.text == "variants"; });
  for (const NamedPart& one : variants_)
    for (const auto& [key, value] : one.tree.entries)
      if (grid_.find(key.text))
        refuse(key, fmt::format("{} is what the grid goes through; keep it in one of them", in_quotes(key.text)),
               found);
}

void Sweep::choose_portfolio() {
  if (options_.portfolio != Portfolio::automatic) return;
  const bool chosen =
      std::ranges::any_of(grid_.entries, [](const auto& e) { return is_chosen_by_portfolios(e.key.text); });
  options_.portfolio = chosen || !variants_.empty() ? Portfolio::none : Portfolio::standard;
}

void Sweep::check_points(std::vector<Diagnostic>& found) {
  const std::size_t earlier = found.size();
  if (options_.portfolio != Portfolio::none)
    for (const auto& [key, value] : grid_.entries)
      if (is_chosen_by_portfolios(key.text))
        refuse(key,
               fmt::format("{} is what the portfolio chooses; leave it out of the grid, or set portfolio: none",
                           in_quotes(key.text)),
               found);
  if (const double points = count_expanded(grid_);
      points * static_cast<double>(std::max<std::size_t>(1, variants_.size())) > max_points)
    refuse(grid_, fmt::format("the sweep has more than {} runs; make its lists shorter", max_points), found);
  if (found.size() > earlier) return;

  for (YamlNode& point : grid_.entries.empty() ? std::vector<YamlNode>(1) : expanded(grid_)) {
    write_out_words(point);
    points_.push_back(point.kind == YamlNode::Kind::map ? merged(shared_, point, case_keys()) : shared_);
  }
  for (std::size_t point = 0; point < points_.size(); ++point) {
    const YamlNode* assume = points_[point].find("assume");
    const bool vouched = assume && assume->text == "spd";
    std::vector<Variant> all = runs(point, portfolio(options_.portfolio, SystemKind::definite), found);
    for (const SystemKind kind : {SystemKind::negative_definite, SystemKind::general, SystemKind::weak_diagonal})
      if (!vouched) runs(point, portfolio(options_.portfolio, kind), found);
    if (!all.empty()) samples_.push_back(std::move(all.front().settings));
  }
}

std::vector<Variant> Sweep::runs(std::size_t point, const std::vector<std::string>& portfolio,
                                 std::vector<Diagnostic>& found) const {
  std::vector<Variant> runs;
  const auto add = [&](const YamlNode& tree, const std::string& name = "") {
    auto settings = check_case(tree, options_.name, found);
    if (settings && step_options(settings->sequence))
      return refuse(*tree.find("sequence"), "sequence is of krill solve; krill evaluate takes one system: leave it out",
                    found);
    if (settings) runs.push_back({name, std::move(*settings)});
  };
  const YamlNode& shared = points_[point];
  const bool complete = shared.find("matrix") && shared.find("solver");
  if ((is_case_ && (complete || variants_.empty())) || (variants_.empty() && portfolio.empty())) add(shared);
  for (const auto& [name, part] : variants_) add(merged(shared, part, case_keys()), name);
  if (portfolio.empty()) return runs;
  const YamlNode limits = read_yaml(fmt::format("{{solver: {{max_iterations: {}}}}}", AutoSolver{}.max_iterations),
                                    "portfolio", found);  // unless the shared case has others
  YamlNode limited = merged(limits, shared, case_keys());
  limited.place = shared.place;
  for (const std::string& text : portfolio) add(merged(limited, read_yaml(text, "portfolio", found), case_keys()));
  return runs;
}

std::vector<Variant> Sweep::variants(std::size_t point, const std::vector<std::string>& portfolio) const {
  std::vector<Diagnostic> found;
  auto all = runs(point, portfolio, found);
  refuse_if_any(std::move(found));
  return all;
}

}  // namespace krill::apps::evaluate
