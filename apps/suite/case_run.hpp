// One case of a suite, solved in a process of its own.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace krill::apps::suite {

struct CaseRun {
  std::string name;      ///< path below the folder of the suite
  std::string status;    ///< one of statuses()
  std::string why = {};  ///< in sentences; empty where it converged
  double seconds = 0;    ///< of the whole process

  bool has_figures = false;  ///< there is a report, which the following are from
  int iterations = 0;
  double true_residual = 0, target = 0;  ///< relative to the baseline of the case
  std::optional<double> error = {};      ///< ||x - x*|| / ||x*|| where x* is known
};

/// A solver's reasons, and how a case can end beside them: "verification_failed" (it converged, and Eigen disagrees or
/// could not judge), "refused" (bad case or input), "environment" (no device or memory), "crashed" (ended by a signal)
/// and "too_long" (ended at the time limit of the suite).
std::vector<std::string> statuses();

struct SuiteCases {
  std::vector<std::string> cases;   ///< in the order of their names
  std::vector<std::string> others;  ///< .yaml files without a matrix: sweeps, baselines
};
/// The .yaml files below a folder. One that cannot be read as YAML counts as a case, so that its error is seen. Raises
/// InvalidArgument where the folder cannot be read.
SuiteCases find_cases(const std::filesystem::path& folder);

struct CaseCommand {
  std::filesystem::path folder;
  std::string backend;  ///< empty: as the case says
  double seconds = 0;   ///< time limit
  std::function<bool()> cancelled;
};
/// Runs `krill solve` on one case; nothing where it was cancelled. Files go to a temporary folder. Raises Error where
/// no process can be started.
std::optional<CaseRun> run_case(const CaseCommand&, const std::string& name);

}  // namespace krill::apps::suite
