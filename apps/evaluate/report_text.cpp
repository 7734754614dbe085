#include <fmt/format.h>

#include <algorithm>

#include "apps/evaluate/evaluation.hpp"
#include "apps/support/terminal.hpp"

namespace krill::apps::evaluate {
namespace {

constexpr std::size_t max_rows = 15;

std::string ranking_table(const Evaluation& all, const SystemVerdict& verdict) {
  const auto& order = verdict.rankings.front();
  std::size_t width = 7;
  for (const std::size_t k : order) width = std::max(width, all.runs[verdict.solved[k]].method.size());
  width = std::min<std::size_t>(width, text_width - 2 - 11 - 4 * 9 - 10);
  std::string text = fmt::format("  {:<{}} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9}\n", "variant", width, "iterations",
                                 "set-up", "solve", "1 solve", "100", "memory");
  for (std::size_t place = 0; place < std::min(order.size(), max_rows); ++place) {
    const std::size_t k = order[place];
    const Run& run = all.runs[verdict.solved[k]];
    const Cost& cost = verdict.costs[k];
    const bool fits = run.method.size() <= width;
    const char mark = verdict.pareto[k] ? '*' : ' ';
    if (!fits) text += fmt::format("{} {}\n", mark, wrapped(run.method, 4));
    text += fmt::format("{} {:<{}} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9}\n", fits ? mark : ' ', fits ? run.method : "",
                        width, run.outcome.iterations, time_text(cost.setup), time_text(cost.solve),
                        time_text(cost.total(1)), time_text(cost.total(100)), human_bytes(run.outcome.memory_bytes));
  }
  if (order.size() > max_rows) text += fmt::format("  and {} more\n", order.size() - max_rows);
  return text + "  * no other one is better in set-up, solve and memory together\n";
}

std::string failures(const Evaluation& all, const System& system, const Paint& paint) {
  std::string text;
  for (const std::size_t r : system.runs) {
    const Run& run = all.runs[r];
    if (run.outcome.converged() || !run.outcome.finished()) continue;
    text += fmt::format("  {}: {}\n    {}\n", wrapped(run.method, 4), paint.bad(run.outcome.status),
                        wrapped(run.outcome.why, 4));
  }
  return text.empty() ? text : "without a solution:\n" + text;
}

std::string system_text(const Evaluation& all, const System& system, const Paint& paint) {
  std::string text = fmt::format("\n{}\n", paint.heading(system.name));
  const SystemVerdict verdict = judge(all, system);
  if (!verdict.solved.empty()) text += ranking_table(all, verdict);
  text += failures(all, system, paint);
  for (const Use use : all_uses)
    if (const std::string words = sentence(all, verdict, use); !words.empty()) text += wrapped(words, 0) + "\n";
  if (verdict.envelope.size() > 1) {
    std::string steps;
    for (const Step& step : verdict.envelope)
      steps += fmt::format("{}from {} on {}", steps.empty() ? "" : ", ", step.from,
                           all.runs[verdict.solved[step.index]].method);
    text += wrapped("The quickest by the number of right-hand sides: " + steps + ".", 0) + "\n";
  }
  return text;
}

}  // namespace

std::string evaluation_text(const Evaluation& all, const Paint& paint) {
  std::string text;
  for (const System& system : all.systems) text += system_text(all, system, paint);
  if (all.systems.size() > 1) {
    text += "\n";
    const Overall overall = judge_together(all);
    for (const Use use : all_uses)
      if (const std::string words = sentence(overall, all.systems.size(), use); !words.empty())
        text += wrapped(words, 0) + "\n";
  }
  return text;
}

}  // namespace krill::apps::evaluate
