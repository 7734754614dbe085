#include "apps/evaluate/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace krill::apps::evaluate {
namespace {

constexpr double near_the_best = 2;  ///< times as long: still a finalist, for one measurement may be far off
constexpr std::size_t max_finalists = 4;
constexpr double unsteady = 0.25;  ///< share of a time that it varies by, worth a word

/// None, the default, is the simplest of a registry; the further back, the less so.
int complexity(const Case& c) {
  int sum = 4 * static_cast<int>(c.preconditioner.index());
  if (c.ordering.index() > 0) sum += 2;
  if (c.scaling.index() > 0) sum += 2;
  if (c.matching.index() > 0) sum += 2;
  if (c.format != Format::automatic) sum += 1;
  if (std::holds_alternative<GmresOptions>(c.solver)) sum += 1;
  if (std::holds_alternative<FgmresOptions>(c.solver)) sum += 2;
  return sum;
}

Cost cost_of(const Run& run) {
  const Spread setup = run.outcome.setup(), solve = run.outcome.solve();
  return {setup.median,
          solve.median,
          static_cast<double>(run.outcome.memory_bytes),
          0.5 * (setup.max - setup.min),
          0.5 * (solve.max - solve.min),
          complexity(run.settings)};
}

std::string value_text(const Cost& cost, Use use) {
  if (use == Use::min_memory) return human_bytes(static_cast<std::size_t>(cost.bytes));
  if (use == Use::many_solves)
    return fmt::format("{} a solve after a set-up of {}", time_text(cost.solve), time_text(cost.setup));
  return fmt::format("{} = set-up {} + solve {}", time_text(cost.total(1)), time_text(cost.setup),
                     time_text(cost.solve));
}

}  // namespace

SystemVerdict judge(const Evaluation& all, const System& system) {
  SystemVerdict verdict;
  for (const std::size_t r : system.runs) {
    if (!all.runs[r].outcome.converged()) continue;
    verdict.solved.push_back(r);
    verdict.costs.push_back(cost_of(all.runs[r]));
  }
  if (verdict.solved.empty()) return verdict;
  for (const Use use : all_uses) {
    verdict.rankings[static_cast<std::size_t>(use)] = ranking(verdict.costs, use);
    verdict.choices[static_cast<std::size_t>(use)] = choose(verdict.costs, use);
  }
  verdict.pareto = pareto_set(verdict.costs);
  verdict.envelope = envelope(verdict.costs);
  return verdict;
}

std::vector<std::size_t> finalists(const Evaluation& all, const System& system) {
  const SystemVerdict verdict = judge(all, system);
  std::vector<Cost> costs = verdict.costs;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    const Outcome& outcome = all.runs[verdict.solved[k]].outcome;
    costs[k].setup = outcome.setup().min, costs[k].solve = outcome.solve().min;
  }
  std::vector<std::size_t> found;
  for (const Use use : {Use::one_solve, Use::many_solves}) {
    const auto order = ranking(costs, use);
    for (std::size_t k = 0; k < std::min(order.size(), max_finalists); ++k) {
      const bool near = value(costs[order[k]], use) <= near_the_best * value(costs[order.front()], use);
      const std::size_t run = verdict.solved[order[k]];
      if (near && std::ranges::find(found, run) == found.end()) found.push_back(run);
    }
  }
  std::ranges::sort(found);
  return found;
}

Overall judge_together(const Evaluation& all) {
  Overall overall;
  for (const Run& run : all.runs)
    if (std::ranges::find(overall.methods, run.method) == overall.methods.end()) overall.methods.push_back(run.method);
  for (const Use use : all_uses) {
    std::vector<std::vector<std::optional<double>>> values;
    for (const System& system : all.systems) {
      auto& row = values.emplace_back(overall.methods.size());
      for (const std::size_t r : system.runs) {
        const Run& run = all.runs[r];
        const auto method = std::ranges::find(overall.methods, run.method) - overall.methods.begin();
        if (run.outcome.converged()) row[static_cast<std::size_t>(method)] = value(cost_of(run), use);
      }
    }
    overall.standings[static_cast<std::size_t>(use)] = standings(values);
  }
  return overall;
}

namespace {

bool solved_all(const Standing& one, std::size_t systems) { return static_cast<std::size_t>(one.solved) == systems; }

}  // namespace

std::optional<std::size_t> best_run(const Evaluation& all) {
  if (all.systems.size() == 1) {
    const SystemVerdict verdict = judge(all, all.systems.front());
    if (verdict.solved.empty()) return {};
    return verdict.chosen(Use::one_solve);
  }
  const Overall overall = judge_together(all);
  const auto& standings = overall.standings.front();
  if (standings.empty() || !solved_all(standings.front(), all.systems.size())) return {};
  const std::string& method = overall.methods[standings.front().method];
  for (std::size_t r = 0; r < all.runs.size(); ++r)
    if (all.runs[r].method == method && all.runs[r].outcome.converged()) return r;
  return {};
}

std::string sentence(const Evaluation& all, const SystemVerdict& verdict, Use use) {
  if (verdict.solved.empty()) return {};
  const Recommendation& choice = verdict.choices[static_cast<std::size_t>(use)];
  const auto& order = verdict.rankings[static_cast<std::size_t>(use)];
  const auto name = [&](std::size_t place) { return all.runs[verdict.solved[place]].method; };
  const Cost& cost = verdict.costs[choice.chosen];
  std::string text = fmt::format("For {}: {} ({}, {} iterations).", use_title(use), name(choice.chosen),
                                 value_text(cost, use), all.runs[verdict.solved[choice.chosen]].outcome.iterations);
  std::vector<std::size_t> ties = choice.ties;
  ties.push_back(choice.fastest);
  std::erase(ties, choice.chosen);
  if (!ties.empty()) {
    text += fmt::format(" It ties with {}{} within the measured spread", name(ties.back()),
                        ties.size() > 1 ? fmt::format(" and {} more", ties.size() - 1) : "");
    text += choice.chosen == choice.fastest ? "." : " and is the simpler one.";
  }
  const auto next = std::ranges::find_if(
      order, [&](std::size_t k) { return k != choice.chosen && std::ranges::find(ties, k) == ties.end(); });
  if (next != order.end() && value(cost, use) > 0)
    text += fmt::format(" The next, {}, takes {:.3g} times as {}.", name(*next),
                        value(verdict.costs[*next], use) / value(cost, use), use == Use::min_memory ? "much" : "long");
  if (const double share = value(cost, use) > 0 ? noise(cost, use) / value(cost, use) : 0; share > unsteady)
    text += fmt::format(" Its times vary by {:.0f} %: more repeats on a quieter machine would tell more.", 100 * share);
  return text;
}

std::string sentence(const Overall& overall, std::size_t systems, Use use) {
  const auto& standings = overall.standings[static_cast<std::size_t>(use)];
  if (standings.empty() || standings.front().solved == 0) return {};
  const Standing& best = standings.front();
  if (!solved_all(best, systems))
    return fmt::format(
        "For {} no variant suits all systems: {} solved the most, {} of {}. Choose for each system by itself.",
        use_title(use), overall.methods[best.method], best.solved, systems);
  return fmt::format(
      "For {} over all systems: {}, which solved all {} at {:.3g} times the best there (geometric mean).",
      use_title(use), overall.methods[best.method], systems, best.ratio);
}

std::string time_text(double ms) {
  if (ms < 0.0995) return fmt::format("{:.0f} us", 1000 * ms);
  if (ms < 9.95) return fmt::format("{:.2f} ms", ms);
  if (ms < 995) return fmt::format("{:.1f} ms", ms);
  return ms < 99'500 ? fmt::format("{:.2f} s", ms / 1000) : fmt::format("{:.0f} s", ms / 1000);
}

std::string_view use_name(Use use) {
  constexpr std::array<std::string_view, 3> names{"one_solve", "many_solves", "least_memory"};
  return names[static_cast<std::size_t>(use)];
}

std::string_view use_title(Use use) {
  constexpr std::array<std::string_view, 3> titles{"one solve", "many solves", "the least memory"};
  return titles[static_cast<std::size_t>(use)];
}

}  // namespace krill::apps::evaluate
