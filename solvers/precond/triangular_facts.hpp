// What a report tells of a triangular solve.
#pragma once
#include "solvers/precond/preconditioner.hpp"
#include "sparse/triangular/triangular.hpp"

namespace krill::detail {

/// "lower_levels", "lower_widest_level" where levels were looked for, and "lower_method".
inline void add_facts(PreconditionerReport& report, const std::string& triangle, const TriangularReport& r) {
  if (r.levels > 0) {
    report.facts.push_back({triangle + "_levels", std::int64_t{r.levels}});
    report.facts.push_back({triangle + "_widest_level", std::int64_t{r.widest}});
  }
  report.facts.push_back({triangle + "_method", std::string(name(r.method))});
}

}  // namespace krill::detail
