// `krill suite run` and `krill suite baseline`.
#pragma once
#include <string>

namespace krill::apps::suite {

struct SuiteCommand {
  std::string folder;
  std::string backend;      ///< auto | host | cuda; empty: as the cases say
  double time_limit = 300;  ///< seconds for one case
  bool quiet = false;       ///< print nothing but errors
};

struct RunCommand : SuiteCommand {
  std::string baseline;         ///< what is expected
  std::string junit, markdown;  ///< files to write; empty: none
};
/// Solves every case below the folder, each in a process of its own, and compares it with the baseline. The exit code:
/// 0 all as expected; 1 something is not, or it was interrupted; 3 a case did not get the device or the memory that it
/// is expected to run with. Raises Error where baseline, folder or outputs are bad, before anything is run.
int run_suite(const RunCommand&);

struct BaselineCommand : SuiteCommand {
  std::string output;
};
/// The same, and writes what came of it as the baseline of later runs; a baseline that is there is replaced.
int run_suite_baseline(const BaselineCommand&);

}  // namespace krill::apps::suite
