#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/report/rank_parts.hpp"
#include "apps/report/report.hpp"
#include "apps/support/terminal.hpp"

namespace krill::apps {
namespace {

/// "  label           text", wrapped; nothing where there is no text.
void row(std::string& block, std::string_view label, const std::string& text) {
  if (!text.empty()) fmt::format_to(std::back_inserter(block), "  {:<15} {}\n", label, wrapped(text, 18));
}

std::string milliseconds(double ms) {
  if (ms < 9.95) return fmt::format("{:.2g} ms", ms);
  return ms < 9950 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.1f} s", ms / 1000);
}

/// "converged: 20 of 20 steps, 345 iterations of gmres with ilu0 in 1.2 s: flow"; without the method where several
/// were tried.
std::string headline_of_steps(const SolveRecord& record, const Paint& paint) {
  const StepsSummary sum = summed(record.steps);
  const std::string word(status(record));
  const bool several = std::ranges::any_of(record.steps, &StepResult::climbed);
  const std::string method = several ? "" : " of " + method_name(record.settings);
  const std::string words =
      wrapped(fmt::format("{}: {} of {} steps, {} iterations{} in {}: {}", word, sum.good, record.steps.size(),
                          sum.iterations, method, milliseconds(sum.setup_ms + sum.solve_ms), record.settings.name),
              2);
  return (exit_code(record) == 0 ? paint.good(word) : paint.bad(word)) + words.substr(word.size()) + "\n";
}

std::string headline(const SolveRecord& record, const Paint& paint) {
  if (!record.steps.empty()) return headline_of_steps(record, paint);
  const SolveReport& r = record.result;
  const bool unverified = r.reason == Reason::converged && exit_code(record) != 0;
  const std::string status = fmt::format("{}{}", name(r.reason), unverified ? ", but NOT VERIFIED," : "");
  const std::string words =
      wrapped(fmt::format("{} after {} {} of {} in {}: {}", status, r.iterations,
                          r.iterations == 1 ? "iteration" : "iterations", method_name(record.settings),
                          milliseconds(record.timings.solve), record.settings.name),
              2);
  return (exit_code(record) == 0 ? paint.good(status) : paint.bad(status)) + words.substr(status.size()) + "\n";
}

std::string residual_text(const SolveRecord& record) {
  const SolveReport& r = record.result;
  return fmt::format("{:.3e}, target {:.3e}  (||b - A x|| / {})", r.true_relative, r.target_relative,
                     norm_of(stop(record.settings.solver).baseline));
}

/// "998 of 1000 converged; the worst is system 17"
std::string systems_text(const SolveReport& r, std::string_view what) {
  if (r.systems.empty()) return {};
  const auto converged = std::ranges::count(r.systems, Reason::converged, &SystemResult::reason);
  return fmt::format("{} of {} converged; the worst is {} {} (counted from 0)", converged, r.systems.size(), what,
                     r.worst_system);
}

/// A line for each of several right-hand sides, the first of those that did not converge where they are too many:
///   column  status            iterations   residual     target       time
void append_columns(std::string& block, const SolveRecord& record) {
  if (record.columns.empty()) return;
  constexpr std::size_t max_shown = 10;
  const std::vector<SystemResult>& all = record.result.systems;
  std::vector<std::size_t> shown;
  for (std::size_t j = 0; j < all.size(); ++j)
    if (all.size() <= max_shown || all[j].reason != Reason::converged) shown.push_back(j);
  const std::size_t more = shown.size() > max_shown ? shown.size() - max_shown : 0;
  shown.resize(shown.size() - more);
  if (!shown.empty())
    fmt::format_to(std::back_inserter(block), "  {:>6}  {:<26}{:>10}{:>11}{:>11}{:>9}\n", "column", "status",
                   "iterations", "residual", "target", "time");
  for (const std::size_t j : shown)
    fmt::format_to(std::back_inserter(block), "  {:>6}  {:<26}{:>10}{:>11.2e}{:>11.2e}{:>9}\n", j, name(all[j].reason),
                   all[j].iterations, std::abs(all[j].true_relative), std::abs(all[j].target_relative),
                   milliseconds(1000 * all[j].seconds));
  if (more > 0) fmt::format_to(std::back_inserter(block), "  {} more did not converge (columns.csv)\n", more);
}

/// A line for each step of a sequence, where they are too many for those that failed:
///   step  name          status                     iter. residual   set-up    solve
void append_steps(std::string& block, const std::vector<StepResult>& steps) {
  if (steps.empty()) return;
  constexpr std::size_t max_shown = 20;
  const StepsSummary sum = summed(steps);
  const std::string resumed = sum.resumed == 0 ? "" : fmt::format("; {} of an earlier run", sum.resumed);
  row(block, "steps",
      fmt::format("preconditioner made {} {}; set-up {}, solve {}{}", sum.made_anew,
                  sum.made_anew == 1 ? "time" : "times", milliseconds(sum.setup_ms), milliseconds(sum.solve_ms),
                  resumed));
  std::size_t more = 0;
  std::string lines;
  for (std::size_t k = 0, shown = 0; k < steps.size(); ++k) {
    const StepResult& s = steps[k];
    if (steps.size() > max_shown && s.good()) continue;
    if (shown++ >= max_shown) {
      ++more;
      continue;
    }
    const std::string attempt = s.good() && s.climbed() ? fmt::format(", attempt {}", s.attempts.size()) : "";
    fmt::format_to(std::back_inserter(lines), "  {:>4}  {:<12.12}  {:<25.25}", k + 1, s.name, s.status + attempt);
    if (s.ran())
      fmt::format_to(std::back_inserter(lines), "{:>6}{:>9.1e}{:>9}{:>9}", s.iterations, s.true_relative,
                     s.setup_ms < 0.05 ? "0 ms" : milliseconds(s.setup_ms), milliseconds(s.solve_ms));
    lines.erase(lines.find_last_not_of(' ') + 1);
    lines += "\n";
  }
  if (!lines.empty())
    fmt::format_to(std::back_inserter(block), "  {:>4}  {:<12}  {:<25}{:>6}{:>9}{:>9}{:>9}\n", "step", "name", "status",
                   "iter.", "residual", "set-up", "solve");
  block += lines;
  if (more > 0) fmt::format_to(std::back_inserter(block), "  {} more are not solved (steps.csv)\n", more);
}

/// "20 of 20 steps pass"
std::string verdict_of_steps(const std::vector<StepResult>& steps) {
  const auto asked = std::ranges::count_if(steps, [](const StepResult& s) { return !s.verdict.empty(); });
  if (asked == 0) return {};
  return fmt::format("{} of {} steps pass", std::ranges::count(steps, "PASS", &StepResult::verdict), steps.size());
}

std::string verdict_text(const Verification& v) {
  if (v.state == Verification::State::not_asked) return {};
  const Judgement& j = v.judgement;
  if (v.state == Verification::State::not_run) return fmt::format("{}: {}", name(j.verdict), v.why_not);
  const auto passed = std::ranges::count(v.columns, Verdict::pass, &Judgement::verdict);
  const std::string of_columns = v.columns.empty() ? ""
                                                   : fmt::format("; {} of {} columns pass, the worst is column {}",
                                                                 passed, v.columns.size(), j.column);
  return fmt::format("{} by {}{}{}, {}{}{}{}", name(j.verdict), j.judge, j.method.empty() ? "" : ", ", j.method,
                     milliseconds(1000 * j.seconds), j.reason.empty() ? "" : ": ", j.reason, of_columns);
}

std::string evidence_text(const Judgement& j) {
  std::string text;
  if (j.residual >= 0) text += fmt::format("residual {:.3e}, tolerance {:.3e}", j.residual, j.tolerance);
  if (j.error >= 0) text += fmt::format("; ||x - x_ref|| / ||x_ref|| = {:.2e}", j.error);
  if (j.condition >= 0) text += fmt::format("; condition about {:.1e}", j.condition);
  return text;
}

std::string time_text(const Timings& t) {
  return fmt::format("preconditioner {}, solve {}, total {}", milliseconds(t.preconditioner_setup),
                     milliseconds(t.solve), milliseconds(t.total));
}

/// "symbolic 12 ms, numeric 3 ms, 4.2 MB; factor nonzeros 1000, levels 12"
std::string setup_text(const PreconditionerReport& p) {
  if (p.facts.empty()) return {};
  std::string text = fmt::format("symbolic {}, numeric {}, {}", milliseconds(p.symbolic_ms), milliseconds(p.numeric_ms),
                                 human_bytes(p.bytes));
  for (std::size_t k = 0; k < p.facts.size(); ++k) {
    std::string label = p.facts[k].name;
    std::replace(label.begin(), label.end(), '_', ' ');
    text += k == 0 ? "; " : ", ";
    const auto* number = std::get_if<double>(&p.facts[k].value);
    text += number
                ? fmt::format("{} {:.4g}", label, *number)
                : std::visit([&](const auto& value) { return fmt::format("{} {}", label, value); }, p.facts[k].value);
  }
  return text;
}

/// "0.21 a cycle: good"; empty where it was not measured.
std::string contraction_text(const SolveRecord& record) {
  const std::vector<Fact>& facts = record.preconditioner.facts;
  const auto found = std::ranges::find(facts, "contraction", &Fact::name);
  if (found == facts.end()) return {};
  const double contraction = std::get<double>(found->value);
  const bool cycles = preconditioner_name(record) == "amg";
  std::string verdict = "good";
  if (!(contraction < 1))
    verdict = fmt::format(
        "by {} alone errors do not shrink, so {} helps little, if at all: compare it with others "
        "(krill evaluate)",
        cycles ? "cycles" : "itself", cycles ? "this hierarchy" : "this preconditioner");
  else if (contraction >= 0.7)
    verdict = "slow, most is left to the solver";
  else if (contraction >= 0.3)
    verdict = "fair";
  return fmt::format("{:.2g} {}: {}", contraction, cycles ? "a cycle" : "an application", verdict);
}

/// "product, 479 rows moved, factors 0.1 to 10, in 3 ms"
std::string matching_text(const SolveRecord& record) {
  const TransformationReport& t = record.transformation;
  if (matching_name(record) == "none") return {};
  return fmt::format("{}{}, {} rows moved, factors {:.2g} to {:.2g}, in {}", matching_name(record),
                     t.has_greatest_product ? "" : ", completed by the pattern alone", t.moved_rows, t.matching.least,
                     t.matching.greatest, milliseconds(record.timings.match));
}

/// "ruiz, factors 0.1 to 10, in 3 ms"
std::string scaling_text(const SolveRecord& record) {
  const TransformationReport& t = record.transformation;
  if (scaling_name(record) == "none") return {};
  return fmt::format(
      "{}, factors {:.2g} to {:.2g}, in {}; norms of the history and the recurrence are those of the "
      "scaled system",
      scaling_name(record), t.scaling.least, t.scaling.greatest, milliseconds(record.timings.scale));
}

/// "color, 2 colors, bandwidth 100 to 5050, in 3 ms"
std::string ordering_text(const SolveRecord& record) {
  const TransformationReport& t = record.transformation;
  if (ordering_name(record) == "none") return {};
  return fmt::format("{}{}, bandwidth {} to {}, in {}", ordering_name(record),
                     t.colors > 0 ? fmt::format(", {} colors", t.colors) : "", t.bandwidth_before, t.bandwidth,
                     milliseconds(record.timings.order));
}

void append_attempts(std::string& block, const std::vector<Attempt>& attempts) {
  if (attempts.size() < 2) return;
  for (std::size_t k = 0; k < attempts.size(); ++k)
    row(block, k == 0 ? "attempts" : "", fmt::format("{}. {}", k + 1, attempt_text(attempts[k])));
}

std::string where_text(const SolveRecord& record) {
  const std::string backend =
      record.device ? record.device->name
                    : fmt::format("host, {} {}", record.threads, record.threads == 1 ? "thread" : "threads");
  return fmt::format("{}, {}, {} for the solve", backend, precision_names[static_cast<std::size_t>(record.precision)],
                     human_bytes(record.memory_bytes));
}

/// Of a multigrid method two tables with a line a level: the levels, and how each led to the next.
void append_levels(std::string& block, const std::vector<LevelReport>& levels) {
  if (levels.empty()) return;
  const auto to = std::back_inserter(block);
  double entries = 0;
  for (const LevelReport& level : levels) entries += static_cast<double>(level.entries);
  const auto over = [](auto part, auto whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  fmt::format_to(to, "  {:<5}{:>11}{:>11}{:>7}{:>7}{:>7}{:>11}  {}\n", "level", "rows", "entries", "a row", "most",
                 "share", "memory", "products");
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelReport& level = levels[l];
    fmt::format_to(to, "  {:<5}{:>11}{:>11}{:>7.1f}{:>7}{:>5.0f} %{:>11}  {}\n", l, level.rows, level.entries,
                   over(level.entries, level.rows), level.longest_row, 100 * over(level.entries, entries),
                   human_bytes(level.bytes), level.format);
  }
  fmt::format_to(to, "  {:<5}{:>7}{:>11}{:>6}{:>7}{:>6}{:>8}{:>11}{:>8}{:>9}\n", "level", "visits", "aggregates",
                 "least", "mean", "most", "in none", "transfer", "lambda", "setup");
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelReport& level = levels[l];
    fmt::format_to(to, "  {:<5}{:>7.0f}", l, level.visits);
    if (level.aggregates > 0)
      fmt::format_to(to, "{:>11}{:>6}{:>7.1f}{:>6}{:>8}{:>11}", level.aggregates, level.least_aggregate,
                     over(level.aggregated, level.aggregates), level.greatest_aggregate, level.not_aggregated,
                     level.transfer_entries);
    else
      fmt::format_to(to, "{:>49}", "");
    fmt::format_to(to, "{:>8}{:>9}\n", level.max_eigenvalue > 0 ? fmt::format("{:.3g}", level.max_eigenvalue) : "",
                   milliseconds(level.setup_ms));
  }
  std::vector<std::string> steps;
  for (const auto& [step, ms] : levels.front().steps) steps.push_back(fmt::format("{} {}", step, milliseconds(ms)));
  row(block, "level 0", fmt::format("{}", fmt::join(steps, ", ")));
}

/// The names of the files; solutions of several steps by the first and the last.
std::string files_text(const SolveRecord& record) {
  std::vector<std::string> of_steps, names;
  for (const StepResult& step : record.steps)
    if (!step.solution.empty()) of_steps.push_back(step.solution);
  const bool brief = of_steps.size() > 2;
  if (brief) names.push_back(of_steps.front() + " to " + of_steps.back());
  for (const std::string& file : record.files)
    if (!brief || std::ranges::find(of_steps, file) == of_steps.end()) names.push_back(file);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// How the solve was done: what whoever tunes or develops wants to know.
void append_details(std::string& block, const SolveRecord& record) {
  const Timings& t = record.timings;
  row(block, "recurrence", fmt::format("{:.3e}", record.result.recurrence_relative));
  if (std::isfinite(record.backward_error))
    row(block, "backward error", fmt::format("{:.3e}  (||b - A x|| / (||A||_F ||x|| + ||b||))", record.backward_error));
  std::vector<std::string> steps;  // those that took time
  for (const auto& [step, ms] :
       {std::pair("read", t.read), std::pair("assemble", t.assemble), std::pair("analyze", t.analyze),
        std::pair("convert", t.convert), std::pair("products", t.products)})
    if (ms > 0.005) steps.push_back(fmt::format("{} {}", step, milliseconds(ms)));
  row(block, "preparation", fmt::format("{}", fmt::join(steps, ", ")));
  row(block, "matching", matching_text(record));
  row(block, "scaling", scaling_text(record));
  row(block, "ordering", ordering_text(record));
  row(block, "setup", setup_text(record.preconditioner));
  append_levels(block, record.preconditioner.levels);
  row(block, "format", std::string(format_used(record)));
  if (record.settings.format == Format::automatic) row(block, "products", record.products.why);
}

}  // namespace

std::string attempt_text(const Attempt& a) {
  const std::string end = a.refusal.empty() ? fmt::format("{} at {:.1e} after {} {}", name(a.reason), a.true_relative,
                                                          a.iterations, a.iterations == 1 ? "iteration" : "iterations")
                                            : "refused: " + a.refusal.substr(0, a.refusal.find('\n'));
  return fmt::format("{} ({}): {}, {}", a.why, method_name(a.method), end, milliseconds(a.milliseconds));
}

std::string summary(const SolveRecord& record, bool verbose, const Paint& paint) {
  std::string block = headline(record, paint);
  const Advice help = advice(record);
  row(block, "why", help.why);
  row(block, "try", help.remedy);
  append_attempts(block, record.attempts);
  if (record.columns.empty())
    row(block, "systems", systems_text(record.result, "system"));
  else
    row(block, "columns", systems_text(record.result, "column"));
  append_columns(block, record);
  append_steps(block, record.steps);
  if (record.steps.empty() || std::isfinite(record.result.true_relative))
    row(block, record.steps.empty() ? "residual" : "worst residual", residual_text(record));
  if (record.known_error)
    row(block, "error", fmt::format("{:.3e}  (||x - x*|| / ||x*||, x* known)", *record.known_error));
  row(block, "verification", record.steps.empty() ? verdict_text(record.verification) : verdict_of_steps(record.steps));
  row(block, "", evidence_text(record.verification.judgement));
  row(block, "contraction", contraction_text(record));
  row(block, "time", time_text(record.timings));
  row(block, "ran on", where_text(record));
  if (!record.ranks.empty())
    row(block, "ranks", fmt::format("{}, of {}", record.ranks.size(), parts_text(record.ranks)));
  row(block, "exchange", record.transport);
  if (verbose && record.matrix.rows > 0) append_details(block, record);
  for (const std::string& note : record.notes)
    block += fmt::format("  {} {}\n", paint.warning(fmt::format("{:<15}", "note")), wrapped(note, 18));
  row(block, "files", fmt::format("{}/: {}", record.folder, files_text(record)));
  return block;
}

}  // namespace krill::apps
