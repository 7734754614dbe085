#include "apps/suite/case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/case/case_file.hpp"
#include "apps/case/check.hpp"
#include "apps/support/child_process.hpp"
#include "apps/support/exit_code.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/reason.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill::apps::suite {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A new folder below the system's temporary one, which goes away with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "krill_suite_XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw Error(fmt::format("{}: no temporary folder can be made: {}", pattern, std::strerror(errno)));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

bool is_case(const fs::path& path) {
  try {
    std::vector<Diagnostic> found;
    const YamlNode root = read_tree(read_yaml_text(path.string()), path.string(), false, found);
    return root.kind != YamlNode::Kind::map || root.find("matrix");
  } catch (const Error&) {
    return true;
  }
}

/// The program's messages without its name, as one text.
std::string message(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.starts_with("krill: ") ? text.substr(7) : text;
}

double number(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void read_report(const Json& report, int exit_code, CaseRun& run) {
  run.status = report.at("status");
  run.why = report.value("why", "");
  run.has_figures = true;
  run.iterations = report.at("iterations");
  run.true_residual = number(report.at("residual").at("true_relative"));
  run.target = number(report.at("residual").at("target_relative"));
  if (const Json& error = report.at("known_error"); error.is_number()) run.error = error.get<double>();
  if (run.status != name(Reason::converged) || exit_code == success) return;
  const Json& verification = report.at("verification");
  const Json reason = verification.value("reason", Json());
  run.status = "verification_failed";
  run.why = reason.is_string() ? reason.get<std::string>() : "the verdict is " + verification.value("verdict", "none");
}

void judge(const ChildEnd& end, double limit, CaseRun& run) {
  if (end.out_of_time) {
    run.status = "too_long";
    run.why = fmt::format("no end within {:g} s, so it was ended", limit);
    return;
  }
  if (end.signal) {
    run.status = "crashed";
    run.why = fmt::format("died of SIG{} ({}){}", sigabbrev_np(end.signal), strsignal(end.signal),
                          end.err.empty() ? "" : ": " + message(end.err));
    return;
  }
  const Json report = Json::parse(end.out, nullptr, false);
  if (report.contains("status")) return read_report(report, end.exit_code, run);  // else it is that of an error
  run.status = end.exit_code == bad_environment ? "environment" : "refused";
  run.why = message(end.err);
}

}  // namespace

std::vector<std::string> statuses() {
  std::vector<std::string> all;
  for (int reason = static_cast<int>(Reason::converged); reason <= static_cast<int>(Reason::interrupted); ++reason)
    all.emplace_back(name(static_cast<Reason>(reason)));
  all.insert(all.end(), {"verification_failed", "refused", "environment", "crashed", "too_long"});
  return all;
}

SuiteCases find_cases(const fs::path& folder) {
  SuiteCases found;
  std::error_code problem;
  for (fs::recursive_directory_iterator file(folder, problem), end; !problem && file != end; file.increment(problem)) {
    const fs::path& path = file->path();
    std::error_code gone;
    if (path.extension() != ".yaml" || !file->is_regular_file(gone)) continue;
    (is_case(path) ? found.cases : found.others).push_back(path.lexically_relative(folder).generic_string());
  }
  if (problem)
    throw InvalidArgument(
        fmt::format("{}: {}; expected a folder with cases (*.yaml)", folder.string(), problem.message()));
  std::ranges::sort(found.cases);
  std::ranges::sort(found.others);
  return found;
}

std::optional<CaseRun> run_case(const CaseCommand& command, const std::string& name) {
  const TemporaryFolder out;
  ChildProcess solve;
  solve.program = "/proc/self/exe";
  solve.arguments = {"krill",    "solve",   (command.folder / name).string(),
                     "--json",   "--quiet", "--out",
                     out.path(), "--set",   "output={solution: false, history: false, plot: false}"};
  if (!command.backend.empty()) solve.arguments.insert(solve.arguments.end(), {"--backend", command.backend});
  solve.seconds = command.seconds;
  solve.cancelled = command.cancelled;
  const Stopwatch watch;
  const ChildEnd end = run_child(solve);
  if (command.cancelled()) return {};
  if (end.start_error) throw Error(fmt::format("krill solve cannot be started: {}", std::strerror(end.start_error)));
  CaseRun run{.name = name, .status = {}};
  run.seconds = 1e-3 * watch.milliseconds();
  judge(end, command.seconds, run);
  return run;
}

}  // namespace krill::apps::suite
