// Saddle points, block by block.
#pragma once
#include <array>
#include <string_view>

#include "solvers/precond/block_inverse.hpp"
#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"

namespace krill {

/// What stands for the inverse of the Schur complement C + G H^-1 F, with S = C + G D^-1 F and D = diag(H).
/// diagonal: S^-1, good where D is much like H. least_squares: S^-1 (G D^-1 H D^-1 F) S^-1, for C = 0, good where H
/// couples its unknowns, as viscosity does (Elman, Howle, Shadid, Shuttleworth and Tuminaro 2006).
enum class SchurForm { diagonal, least_squares };
inline constexpr std::array<std::string_view, 2> schur_form_names{"diagonal", "least_squares"};

struct SchurOptions {
  static constexpr std::string_view type = "schur";
  static constexpr std::string_view doc =
      "for saddle points [H F; G -C], whose constraints are the rows with a diagonal that is missing, 0 or negative, "
      "in "
      "any order: H, then the Schur complement C + G diag(H)^-1 F, each by a preconditioner of its own (block "
      "triangular: Murphy, Golub and Wathen 2000), with solver gmres or bicgstab";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  SchurForm form = SchurForm::diagonal;
  BlockInverse block = BlockInverse::automatic, complement = BlockInverse::automatic;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {false, "type", type, "ic0"}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, SchurOptions& o) {
  fields.choice("form", o.form, schur_form_names,
                "what stands for the inverse of the Schur complement. diagonal: S^-1, S = C + G diag(H)^-1 F; "
                "least_squares: S^-1 (G D^-1 H D^-1 F) S^-1, D = diag(H), where C is 0: stronger where H couples its "
                "unknowns, as viscosity does (Elman and others 2006)");
  fields.choice(
      "block", o.block, block_inverse_names,
      "what stands for the inverse of H; auto: amg where it is Hermitian with a positive diagonal, else ilu0");
  fields.choice("complement", o.complement, block_inverse_names, "what stands for that of S; auto: as for H");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const SchurOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const SchurOptions&, const PreconditionerInput<T>&);

}  // namespace krill
