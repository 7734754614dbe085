// What came of a suite, for people and for machines.
#pragma once
#include <string>
#include <vector>

#include "apps/suite/baseline.hpp"

namespace krill::apps::suite {

struct CaseResult {
  CaseRun run;                          ///< of a case that is only in the baseline: its name alone
  std::vector<std::string> deviations;  ///< from what is expected; none: passed
  bool passed() const { return deviations.empty(); }
};

struct SuiteResult {
  std::string folder, backend, started_at;
  std::vector<CaseResult> cases;
  double seconds() const;
  std::size_t failures() const;
};

/// "converged, 123 iterations, 0.4 s" or what else is known of a run.
std::string outcome_text(const CaseRun&);

/// The dialect of JUnit XML that Jenkins, GitLab and GitHub's actions read: a testsuite, a testcase for each case, a
/// failure element where a case is not as expected. Well-formed whatever bytes names and messages have.
std::string junit_xml(const SuiteResult&);

/// A table with a line for each case.
std::string suite_markdown(const SuiteResult&);

}  // namespace krill::apps::suite
