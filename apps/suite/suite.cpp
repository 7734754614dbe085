#include "apps/suite/suite.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "apps/case/suggest.hpp"
#include "apps/suite/suite_report.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/interruption.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/core/error.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps::suite {
namespace {

constexpr const char* before_the_first = "\nkrill: interrupted before a case was run; nothing was written\n";
constexpr const char* interrupted = "krill: interrupted; nothing was written\n";

/// Fails now where the file could not be written in the end.
void require_writable(const std::string& path) {
  if (!path.empty()) AtomicFile{path};
}

/// A folder and its cases, of which there is at least one.
class Suite {
 public:
  explicit Suite(const SuiteCommand& command) : command_(command), found_(find_cases(command.folder)) {
    if (found_.cases.empty())
      throw InvalidArgument(fmt::format("{}: there is no case (*.yaml with a matrix) in it", command.folder));
  }

  const std::vector<std::string>& cases() const { return found_.cases; }

  /// Calls take(run) for every case; false where it was interrupted.
  template <class Take>
  bool run(const Interruption& interruption, Take&& take) const {
    if (!found_.others.empty())
      say(wrapped(fmt::format("no cases, left out: {}", enumerate(found_.others, ", ")), 2) + "\n");
    const CaseCommand one{command_.folder, command_.backend, command_.time_limit,
                          [&] { return interruption.requested(); }};
    for (const std::string& name : found_.cases) {
      const auto run = run_case(one, name);
      if (!run) return false;
      take(*run);
    }
    return true;
  }

  /// A line for a case, in which the names have the same width; two where its name is long.
  void tell(const char* verdict, const CaseRun& run) const {
    constexpr std::size_t most = 30;  // so that a line has text_width columns
    const auto width = std::min(most, std::ranges::max(found_.cases, {}, &std::string::size).size());
    const std::string name = run.name.size() > width ? run.name + "\n" + std::string(8 + width, ' ') : run.name;
    say(fmt::format("{:<8}{:<{}}  {}\n", verdict, name, width, outcome_text(run)));
  }
  void say(const std::string& text) const {
    if (!command_.quiet) print(text);
  }

 private:
  const SuiteCommand& command_;
  SuiteCases found_;
};

CaseResult compared(const CaseRun& run, const ExpectedResults& baseline) {
  const auto expected = baseline.find(run.name);
  if (expected == baseline.end())
    return {run, {"the baseline does not have this case; krill suite baseline writes a new one"}};
  return {run, deviations(expected->second, run)};
}

/// What the baseline expects and nobody has run.
void add_missing(const Suite& suite, const ExpectedResults& baseline, SuiteResult& result) {
  for (const auto& [name, expected] : baseline)
    if (!std::ranges::binary_search(suite.cases(), name)) {
      CaseRun missing;
      missing.name = name;
      result.cases.push_back({missing, {"the baseline has this case, and the folder does not"}});
    }
}

void report(const Suite& suite, const CaseResult& one) {
  suite.tell(one.passed() ? "ok" : "FAILED", one.run);
  for (const std::string& line : one.deviations) suite.say("        " + wrapped(line, 8) + "\n");
}

}  // namespace

int run_suite(const RunCommand& command) {
  Interruption interruption(before_the_first);
  const ExpectedResults baseline = read_baseline(command.baseline);
  const Suite suite(command);
  require_writable(command.junit);
  require_writable(command.markdown);
  SuiteResult result{
      command.folder, command.backend, fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(std::time(nullptr))), {}};
  interruption.is_awaited();
  const bool whole = suite.run(
      interruption, [&](const CaseRun& run) { report(suite, result.cases.emplace_back(compared(run, baseline))); });
  if (!whole) return std::fputs(interrupted, stderr), not_converged;
  const std::size_t run = result.cases.size();
  add_missing(suite, baseline, result);
  for (std::size_t i = run; i < result.cases.size(); ++i) report(suite, result.cases[i]);
  if (!command.junit.empty()) atomic_write(command.junit, junit_xml(result));
  if (!command.markdown.empty()) atomic_write(command.markdown, suite_markdown(result));
  suite.say(fmt::format("{} cases, {} not as expected, {:.1f} s\n", result.cases.size(), result.failures(),
                        result.seconds()));
  const bool no_means = std::ranges::any_of(
      result.cases, [](const CaseResult& one) { return !one.passed() && one.run.status == "environment"; });
  return no_means ? bad_environment : result.failures() ? not_converged : success;
}

int run_suite_baseline(const BaselineCommand& command) {
  Interruption interruption(before_the_first);
  const Suite suite(command);
  require_writable(command.output);
  std::vector<CaseRun> runs;
  interruption.is_awaited();
  const bool whole = suite.run(interruption, [&](const CaseRun& run) { suite.tell("", runs.emplace_back(run)); });
  if (!whole) return std::fputs(interrupted, stderr), not_converged;
  const auto unfit = std::ranges::find_if(runs, [](const CaseRun& run) { return run.status == "environment"; });
  if (unfit != runs.end()) {
    std::fputs(fmt::format("krill: {}: {}\n  no baseline was written\n", unfit->name, unfit->why).c_str(), stderr);
    return bad_environment;
  }
  atomic_write(command.output, baseline_yaml(runs));
  suite.say(fmt::format("{}: {} cases\n", command.output, runs.size()));
  return success;
}

}  // namespace krill::apps::suite
