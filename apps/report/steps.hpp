// What came of one step of a sequence.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace krill::apps {

struct StepResult {
  /// A solver's reason ("converged", "max_iterations", ...), "refused" (it cannot be read, or the matrix does not allow
  /// it), or "not_run" (the sequence ended before).
  std::string status = "not_run";
  std::string name;         ///< of its file, or the value of the parameter
  std::string why, remedy;  ///< where it failed
  int iterations = 0;       ///< of all its right-hand sides
  double true_relative = 0, target_relative = 0;
  std::optional<double> known_error;
  std::string verdict;  ///< of the judge; empty where none was asked
  bool made_anew = false;
  std::string setup_why;  ///< the preconditioner was made anew, or not
  std::string method;     ///< method_text of the one that the figures are of
  nlohmann::ordered_json attempts = nlohmann::ordered_json::array();  ///< of a ladder, as in report.json
  double read_ms = 0;                                                 ///< reading, assembly, analysis
  double setup_ms = 0;                                                ///< transformation, products and preconditioner
  double preconditioner_ms = 0;                                       ///< of these
  double solve_ms = 0;
  std::string pattern;   ///< a checksum
  std::string solution;  ///< the file that has it; empty: none
  std::vector<std::string> notes;
  bool resumed = false;  ///< by an earlier run, from the journal

  bool climbed() const { return attempts.size() > 1; }
  /// To an end of its own.
  bool ran() const { return status != "refused" && status != "not_run" && status != "interrupted"; }
  /// Converged, and verified where that was asked.
  bool good() const { return status == "converged" && (verdict.empty() || verdict == "PASS"); }
};

/// All of a sequence.
struct StepsSummary {
  std::size_t good = 0, resumed = 0, made_anew = 0;
  std::size_t worst = 0;  ///< the first that is not good, else the one with the greatest residual
  int iterations = 0;
  double read_ms = 0, setup_ms = 0, preconditioner_ms = 0, solve_ms = 0;
};
StepsSummary summed(const std::vector<StepResult>&);

/// Both ways; numbers that are not finite are null in JSON and NaN here.
nlohmann::ordered_json to_json(const StepResult&);
StepResult step_from(const nlohmann::ordered_json&);

/// The section of report.json; null where there are no steps. At most 1000 are listed, those that failed first.
nlohmann::ordered_json steps_json(const std::vector<StepResult>&);

/// "step,name,status,iterations,true_relative,target_relative,preconditioner,read_ms,setup_ms,preconditioner_ms,
/// solve_ms", a line a step, residuals with all digits. Steps count from 1; of one that was not run the rest is empty.
std::string steps_csv(const std::vector<StepResult>&);

/// The gnuplot script of two pictures, one below the other: iterations, with marks where a preconditioner was made and
/// where other methods were tried or a step failed, and the milliseconds of set-up and solve.
std::string steps_script(const std::string& title, const std::vector<StepResult>&);

}  // namespace krill::apps
