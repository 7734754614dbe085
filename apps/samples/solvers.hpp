// The solvers with the options that `verify --all` and the tests try. A solver without an overload here does not
// compile.
#pragma once
#include <optional>

#include "apps/samples/preconditioners.hpp"
#include "solvers/options.hpp"

namespace krill::apps {

struct SolverSample {
  unsigned uses;
  SolverOptions options;
  std::optional<PreconditionerOptions> alone_with = {};  ///< the one that it is tried with; otherwise with all
};

namespace detail {

using SolverSamples = std::vector<SolverSample>;

inline SolverSamples samples(Of<PcgOptions>) {
  return {{in_verify | in_tests, PcgOptions{}},
          {in_tests, PcgOptions{.stop = {}, .method = PcgMethod::single_reduction}}};
}
inline SolverSamples samples(Of<FcgOptions>) { return {{in_verify | in_tests, FcgOptions{}}}; }
inline SolverSamples samples(Of<GmresOptions>) {
  return {{in_verify, GmresOptions{.restart = 30, .stop = {}}}, {in_tests, GmresOptions{}}};
}
inline SolverSamples samples(Of<FgmresOptions>) { return {{in_verify, FgmresOptions{.restart = 30, .stop = {}}}}; }
inline SolverSamples samples(Of<BicgstabOptions>) { return {{in_verify | in_tests, BicgstabOptions{}}}; }
inline SolverSamples samples(Of<RichardsonOptions>) { return {{in_verify, RichardsonOptions{}, Ilu0Options{}}}; }
inline SolverSamples samples(Of<MultigridSolverOptions>) {
  return {{in_verify, MultigridSolverOptions{}, with_levels({})}};
}
inline SolverSamples samples(Of<BandedOptions>) { return {}; }  // for few diagonals alone
inline SolverSamples samples(Of<DirectOptions>) { return {{in_verify, DirectOptions{}, NoPreconditioner{}}}; }
inline SolverSamples samples(Of<AutoSolver>) { return {}; }

}  // namespace detail

/// Those of a use, in the order of the registry, with that tolerance.
inline std::vector<SolverSample> solver_samples(SampleUse use, double relative) {
  auto all = detail::samples_of_all<SolverSample>(std::type_identity<SolverOptions>());
  std::erase_if(all, [&](const SolverSample& s) { return (s.uses & use) == 0; });
  for (SolverSample& s : all) std::visit([&](auto& o) { o.stop.relative = relative; }, s.options);
  return all;
}

}  // namespace krill::apps
