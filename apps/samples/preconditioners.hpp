// The preconditioners with the options that `verify --all`, `bench` and the tests try. A preconditioner without an
// overload here does not compile.
#pragma once
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/samples/use.hpp"
#include "solvers/precond/options.hpp"

namespace krill::apps {

/// What it is tried on: Hermitian positive definite systems, with pcg; all of them, with the other solvers; or both.
enum class SampleSystems { definite, general, both };

struct PreconditionerSample {
  SampleSystems systems;
  unsigned uses;
  PreconditionerOptions options;
  std::string_view bench_name = {};  ///< empty: its type
  bool colored = false;              ///< in bench: the system is solved in the order of its colors

  bool with_pcg() const { return systems != SampleSystems::general; }
  bool with_others() const { return systems != SampleSystems::definite; }
};

namespace detail {

using Samples = std::vector<PreconditionerSample>;
using enum SampleSystems;
template <class Options>
struct Of {};

inline constexpr FactorSolveOptions by_jacobi{.method = FactorSolveMethod::jacobi};
inline constexpr FactorSolveOptions by_isai{.method = FactorSolveMethod::isai};
inline constexpr FactorSolveOptions by_corrected_isai{.method = FactorSolveMethod::isai, .corrections = 1};
inline constexpr KeptPrecision float32 = KeptPrecision::float32;

inline Samples samples(Of<NoPreconditioner>) { return {{both, in_verify | in_bench, NoPreconditioner{}}}; }
inline Samples samples(Of<AutoPreconditioner>) { return {}; }
inline Samples samples(Of<JacobiOptions>) { return {{both, everywhere, JacobiOptions{}}}; }
inline Samples samples(Of<BlockJacobiOptions>) {
  return {{general, in_verify, BlockJacobiOptions{.block_dim = 3}},
          {definite, in_verify, BlockJacobiOptions{.precision = float32}},
          {both, in_tests, BlockJacobiOptions{.block_dim = 4}}};
}
inline Samples samples(Of<ChebyshevOptions>) { return {{definite, everywhere, ChebyshevOptions{}}}; }
inline Samples samples(Of<GaussSeidelOptions>) {
  return {{general, in_verify | in_tests, GaussSeidelOptions{.direction = SweepDirection::forward}},
          {general, in_verify | in_tests, GaussSeidelOptions{.direction = SweepDirection::backward}},
          {definite, in_verify | in_tests, GaussSeidelOptions{}}};
}
inline Samples samples(Of<SsorOptions>) {
  return {{definite, in_verify | in_tests, SsorOptions{.omega = 1.3}}, {general, in_tests, SsorOptions{.omega = 0.8}}};
}
inline Samples samples(Of<Ilu0Options>) {
  return {{general, everywhere, Ilu0Options{}},
          {definite, in_tests | in_bench, Ilu0Options{}},
          {general, in_bench, Ilu0Options{}, "ilu0 in color order", true},
          {general, in_verify, Ilu0Options{.solve = by_jacobi}},
          {general, in_verify | in_bench, Ilu0Options{.solve = by_isai}, "ilu0, isai"},
          {general, in_verify, Ilu0Options{.precision = float32}}};
}
inline Samples samples(Of<Ic0Options>) {
  return {{definite, everywhere, Ic0Options{}},
          {definite, in_bench, Ic0Options{}, "ic0 in color order", true},
          {definite, in_bench, Ic0Options{.solve = by_isai}, "ic0, isai"},
          {definite, in_verify, Ic0Options{.solve = by_corrected_isai}}};
}
inline Samples samples(Of<IlukOptions>) {
  return {{general, in_verify | in_tests | in_bench, IlukOptions{}},
          {definite, in_tests, IlukOptions{{}, 2}},
          {general, in_verify, IlukOptions{{.solve = by_isai}, 3}}};
}
inline Samples samples(Of<IckOptions>) {
  return {{definite, in_verify | in_tests | in_bench, IckOptions{}}, {definite, in_verify, IckOptions{{}, 3}}};
}
inline Samples samples(Of<IlutOptions>) {  // which takes no new values
  return {{general, in_verify | in_bench, IlutOptions{}},
          {general, in_verify, IlutOptions{{.solve = by_isai}, 3, 0.02}},
          {general, in_verify, IlutOptions{{}, 5, 0.02, 1}}};
}
inline Samples samples(Of<IctOptions>) {
  return {{definite, in_verify | in_bench, IctOptions{}},
          {definite, in_verify, IctOptions{{}, 3, 0.02, DropCompensation::diagonal}}};
}
inline Samples samples(Of<Bilu0Options>) {
  return {{general, in_verify, Bilu0Options{{}, 2}}, {general, in_tests, Bilu0Options{{}, 3}}};
}
inline Samples samples(Of<Bic0Options>) { return {{definite, in_verify | in_tests, Bic0Options{{}, 3}}}; }
inline Samples samples(Of<Parilu0Options>) { return {{general, in_verify, Parilu0Options{}}}; }
inline Samples samples(Of<Paric0Options>) { return {{definite, in_verify, Paric0Options{}}}; }
inline Samples samples(Of<ParilutOptions>) {  // new values keep the pattern of the old ones
  return {{general, in_verify | in_bench, ParilutOptions{}},
          {general, in_verify, ParilutOptions{{.sweeps = 3, .solve = by_isai}, 0.7, 2}}};
}
inline Samples samples(Of<ParictOptions>) {
  return {{definite, in_verify | in_bench, ParictOptions{}}, {definite, in_verify, ParictOptions{{}, 0.7, 2}}};
}
inline Samples samples(Of<IsaiOptions>) {
  return {{general, in_verify | in_bench, IsaiOptions{.form = IsaiForm::general}},
          {definite, in_bench, IsaiOptions{.form = IsaiForm::factored}},
          {definite, in_verify, IsaiOptions{}},
          {definite, in_verify, IsaiOptions{.precision = float32}},
          {both, in_tests, IsaiOptions{}}};
}

inline Samples samples(Of<TridiagonalOptions>) {
  return {{both, in_verify | in_tests, TridiagonalOptions{}},
          {definite, in_verify, TridiagonalOptions{.precision = float32}}};
}
inline Samples samples(Of<LineOptions>) { return {}; }  // for grids alone
/// With levels although systems are small, and in a form that takes new values.
inline AmgOptions with_levels(AmgOptions o) {
  o.coarse_rows = 6, o.reuse = HierarchyReuse::interpolation;
  return o;
}
inline Samples samples(Of<AmgOptions>) {
  AmgOptions smoothed, plain, krylov, w_cycle, exact, swept, by_adjoint;
  swept.smoother = {.type = SmootherKind::multicolor_gauss_seidel, .degree = 1};
  plain.method = krylov.method = w_cycle.method = MultigridMethod::aggregation;
  w_cycle.cycle = MultigridCycle::w;
  plain.over_correction = 1.7;
  krylov.cycle = MultigridCycle::k;
  by_adjoint.restriction = RestrictionChoice::adjoint_matrix;
  exact.precision = w_cycle.precision = KeptPrecision::float64;
  return {{definite, in_bench, smoothed},
          {definite, in_bench, plain, "amg, plain aggregates"},
          {both, in_tests, with_levels(exact)},
          {definite, in_verify, with_levels(plain)},
          {general, in_tests, with_levels(w_cycle)},
          {general, in_verify | in_tests, with_levels(by_adjoint)},
          {definite, in_verify, with_levels(smoothed)},
          {definite, in_verify, with_levels(swept)},
          {both, in_verify, with_levels(krylov)}};
}

inline Samples samples(Of<SchurOptions>) { return {}; }  // for saddle points alone

inline Samples samples(Of<SchwarzOptions>) {  // which takes no new values
  IlukOptions with_level_1;
  with_level_1.level = 1;
  return {{definite, in_verify | in_bench, SchwarzOptions{.parts = 4}},
          {general, in_verify, SchwarzOptions{.parts = 3, .inner = PartInverse{with_level_1}, .overlap = 1}},
          {definite, in_verify,
           SchwarzOptions{.parts = 5, .inner = PartInverse{JacobiOptions{}}, .coarse = CoarseSpace::constants}}};
}

inline InnerSolverOptions inside(SolverOptions solver, PreconditionerOptions M,
                                 KeptPrecision precision = KeptPrecision::automatic) {
  return {.inner = InnerMethod{std::move(solver), std::move(M)}, .precision = precision};
}
inline Samples samples(Of<InnerSolverOptions>) {
  const StopOptions never{.relative = 0};
  const RichardsonOptions richardson{.max_iterations = 2, .relaxation = 0.9, .stop = never};
  return {{definite, in_verify, inside(PcgOptions{.max_iterations = 3, .stop = never}, JacobiOptions{})},
          {general, in_verify, inside(richardson, Ilu0Options{})},
          {definite, in_verify, inside(richardson, Ic0Options{}, float32)}};
}

template <class Sample, class... Options>
std::vector<Sample> samples_of_all(std::type_identity<std::variant<Options...>>) {
  std::vector<Sample> all;
  const auto add = [&](const std::vector<Sample>& some) { all.insert(all.end(), some.begin(), some.end()); };
  (add(samples(Of<Options>())), ...);
  return all;
}

}  // namespace detail

/// Those of a use, in the order of the registry.
inline std::vector<PreconditionerSample> preconditioner_samples(SampleUse use) {
  auto all = detail::samples_of_all<PreconditionerSample>(std::type_identity<PreconditionerOptions>());
  std::erase_if(all, [&](const PreconditionerSample& s) { return (s.uses & use) == 0; });
  return all;
}

}  // namespace krill::apps
