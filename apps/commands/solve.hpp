// `krill solve CASE`.
#pragma once
#include <string>
#include <vector>

namespace krill::apps {

/// What the command line says. Empty strings: as the case says.
struct SolveCommand {
  std::string case_path;
  std::vector<std::string> overrides = {};  ///< "path=value", in the order given
  std::string variant = {};                 ///< one of the case's variants; empty: the case without them
  bool environment = false;                 ///< fill in ${NAME}
  std::string backend = {};                 ///< auto | host | cuda
  int threads = 0;                          ///< host threads; 0: as the case says
  std::string out = {};                     ///< folder of the output files; default: out/<case name>
  bool quiet = false;                       ///< print nothing but errors
  bool verbose = false;                     ///< say also how it was done
  bool json = false;                        ///< print the report, and nothing else, to stdout
  bool fresh = false;                       ///< solve again the steps of a sequence that were finished before
  bool plan = false;                        ///< say what memory the case would take, and do not solve it
  int ranks = 1;                            ///< of the plan: processes that would solve it together
  std::string machine = {};                 ///< of the plan: figures to predict times by; empty: what is shipped
};

/// The folder of the output files of a case of that name.
std::string folder_of(const SolveCommand&, const std::string& name);

/// Reads the case, solves it, has the answer judged where the case asks for it, and writes report.json, residuals.csv,
/// solution.mtx and convergence.svg. The exit code: 0 converged (and verified, where asked); 1 ran, but did not
/// converge, was interrupted, or failed verification. Raises Error where there is nothing to report: the caller prints
/// it and exits with 3 for NoDevice, OutOfMemory and CudaError, else with 2.
int run_solve(const SolveCommand&);

}  // namespace krill::apps
