// `krill evaluate`.
#pragma once
#include <string>

#include "apps/evaluate/sweep.hpp"

namespace krill::apps::evaluate {

struct EvaluateCommand {
  SweepInput input;
  std::string out;     ///< folder of the output files; default: out/<name>
  bool fresh = false;  ///< what was measured before is forgotten
  bool quiet = false;
  bool json = false;  ///< print evaluation.json, and nothing else, to stdout
};

/// Runs every variant of a sweep in a child process and writes evaluation.json, .csv and .html, best.yaml, and as it
/// goes on the journal evaluation.jsonl. The exit code: 0 the sweep was run and at least one variant converged; 1 none
/// did, or it was interrupted; 3 the disk did not take the results. Raises Error before anything has run where the
/// sweep, an input or the folder is bad.
int run_evaluate(const EvaluateCommand&);

/// `krill evaluate-worker PARENT`, which the above starts.
struct WorkerCommand {
  int parent = 0;
};
int run_worker_command(const WorkerCommand&);

}  // namespace krill::apps::evaluate
