// What a suite expects of its cases: a YAML file that people read and edit.
//
//   cases:
//     quickstart.yaml: {status: converged, iterations: {least: 110, most: 136}, true_residual: 1e-08}
#pragma once
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "apps/case/case.hpp"
#include "apps/suite/case_run.hpp"

namespace krill::apps::suite {

struct IterationRange {
  int min = 0;
  int max = std::numeric_limits<int>::max();
};
template <class Fields>
void describe(Fields& fields, IterationRange& o) {
  fields.value("least", o.min, at_least_zero, "fewer are a change, too: it is looked at and the baseline renewed");
  fields.value("most", o.max, at_least_zero, "more are a regression");
}

struct Expectation {
  std::string status = "converged";
  IterationRange iterations;
  double true_residual = 0;
  double error = 0;
};
template <class Fields>
void describe(Fields& fields, Expectation& o) {
  fields.value("status", o.status, any_value, "how the case ends");
  fields.section("iterations", o.iterations, "how many it takes");
  fields.value("true_residual", o.true_residual, at_least_zero,
               "most of ||b - A x||, relative to the baseline of the case; 0: not looked at");
  fields.value("error", o.error, at_least_zero, "most of ||x - x*|| / ||x*||, where x* is known; 0: not looked at");
}

/// Expectations by the case's path below the folder of the suite.
using ExpectedResults = std::map<std::string, Expectation>;

/// Raises CaseError with all that is wrong, by line and column.
ExpectedResults read_baseline(const std::string& path);

/// A baseline that these runs meet. Iterations may differ by a tenth, at least by 2: sums are added up in another order
/// by other numbers of threads and on a device. The residual may be what the case asks for, where it converged; an
/// error may be ten times as large.
std::string baseline_yaml(const std::vector<CaseRun>&);

/// What of a run is not as expected, in sentences; none where all is.
std::vector<std::string> deviations(const Expectation&, const CaseRun&);

}  // namespace krill::apps::suite
