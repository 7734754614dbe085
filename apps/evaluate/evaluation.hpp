// A sweep with all that came of it: what the files, the page and the terminal show.
#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/evaluate/outcome.hpp"
#include "apps/evaluate/ranking.hpp"
#include "apps/evaluate/sweep.hpp"
#include "apps/support/terminal.hpp"

namespace krill::apps::evaluate {

/// One variant on one system.
struct Run {
  std::string method;      ///< its name, the same on every system
  std::size_t system = 0;  ///< index
  Case settings;
  std::string key;  ///< in the journal
  Outcome outcome;
  bool resumed = false;  ///< taken from the journal
};

/// One system A x = b with its tolerances.
struct System {
  std::string name;
  nlohmann::ordered_json part;  ///< of the case
  std::vector<std::size_t> runs;
};

struct Evaluation {
  SweepOptions options;
  std::string status = "complete";  ///< or "interrupted", "out_of_budget", "disk_failed"
  std::string started_at;
  double seconds = 0;
  nlohmann::ordered_json environment;
  std::vector<System> systems;
  std::vector<Run> runs;
};

/// What the runs of one system say; nothing but empty lists where none converged. Numbers of runs are indices of
/// Evaluation::runs.
struct SystemVerdict {
  std::vector<std::size_t> solved;  ///< runs that converged; all below goes by their places here
  std::vector<Cost> costs;
  std::array<std::vector<std::size_t>, 3> rankings;
  std::array<Recommendation, 3> choices;
  std::vector<bool> pareto;
  std::vector<Step> envelope;

  std::size_t chosen(Use use) const { return solved[choices[static_cast<std::size_t>(use)].chosen]; }
};
SystemVerdict judge(const Evaluation&, const System&);

/// Runs close enough to the best for one or for many solves that another measurement may change the order, going by the
/// quickest time of each: one that something else slowed down may be the best.
std::vector<std::size_t> finalists(const Evaluation&, const System&);

/// Several systems together, where there are several.
struct Overall {
  std::vector<std::string> methods;
  std::array<std::vector<Standing>, 3> standings;
};
Overall judge_together(const Evaluation&);

/// The run whose case is handed out as best.yaml: of several systems, of a method that solved all. Nothing where there
/// is none.
std::optional<std::size_t> best_run(const Evaluation&);

/// One sentence for each use with the numbers behind it; empty where none converged.
std::string sentence(const Evaluation&, const SystemVerdict&, Use);
std::string sentence(const Overall&, std::size_t systems, Use);

/// "12 ms", "1.5 s"
std::string time_text(double milliseconds);

std::string_view use_name(Use);   ///< "one_solve", ...
std::string_view use_title(Use);  ///< "one solve", ...

nlohmann::ordered_json evaluation_json(const Evaluation&);
std::string evaluation_csv(const Evaluation&);
/// evaluation.html: the page with the JSON in it.
std::string evaluation_page(const nlohmann::ordered_json&);
/// A table for each system and the recommendations, for the terminal.
std::string evaluation_text(const Evaluation&, const Paint& = {});

}  // namespace krill::apps::evaluate
