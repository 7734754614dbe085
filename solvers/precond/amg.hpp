// Algebraic multigrid.
#pragma once
#include <string_view>

#include "solvers/multigrid/options.hpp"
#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"

namespace krill {

struct AmgOptions : MultigridOptions {
  static constexpr std::string_view type = "amg";
  static constexpr std::string_view doc =
      "algebraic multigrid by aggregates of unknowns: a cycle over ever smaller matrices, whose iterations hardly grow "
      "with the size of elliptic problems";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = true;
  static constexpr bool float32_by_default = true;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  constexpr std::string_view varies() const { return cycle == MultigridCycle::k ? "cycle k" : ""; }
  OptionConflict conflict() const {
    if (!by_matching() && matching_passes != MultigridOptions{}.matching_passes)
      return {{"matching_passes"}, "aggregates are not made by matching: leave matching_passes out"};
    if (smoothed() && over_correction != 1)
      return {{"over_correction"}, "method smoothed_aggregation has no over-correction: leave it out"};
    if (method == MultigridMethod::aggregation && interpolation_damping != MultigridOptions{}.interpolation_damping)
      return {{"damping"}, "method aggregation smooths no interpolation: leave damping out"};
    if (!smoothed() && restriction != RestrictionChoice::interpolation)
      return {{"restriction"},
              "restriction adjoint_matrix smooths by A^H: leave it out, or use method smoothed_aggregation"};
    if (near_null_space.type == CandidateKind::constant && !near_null_space.path.empty())
      return {{"near_null_space", "path"}, "near_null_space constant reads no file: leave path out"};
    if (near_null_space.type == CandidateKind::file && near_null_space.path.empty())
      return {{"near_null_space", "path"}, "near_null_space file needs the path of a file"};
    if (near_null_space.type == CandidateKind::rigid_body && near_null_space.block_dim != 1)
      return {{"near_null_space", "block_dim"},
              "near_null_space rigid_body takes block_dim from the coordinates: leave it out"};
    return {};
  }
};
template <class Fields>
void describe(Fields& fields, AmgOptions& o) {
  describe(fields, static_cast<MultigridOptions&>(o));
  fields.choice("precision", o.precision, kept_precision_names_with_own,
                "what the hierarchy is kept and applied in; auto and float32: in single precision, which costs no "
                "iterations as a rule; float64: in the precision of the solve");
}

template <class T>
MadePreconditioner<T> make(Context&, const AmgOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const AmgOptions&, const PreconditionerInput<T>&);

}  // namespace krill
