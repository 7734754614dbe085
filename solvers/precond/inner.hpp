// A solver as the preconditioner of another one.
#pragma once
#include <string_view>

#include "solvers/precond/boxed.hpp"
#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"

namespace krill {

/// The solver inside, and its preconditioner, which may be a solver again: precond/options.hpp has it.
struct InnerMethod;

struct InnerSolverOptions {
  static constexpr std::string_view type = "solver";
  static constexpr std::string_view doc =
      "some iterations of a solver with a preconditioner of its own: another matrix in every iteration, which solver "
      "fcg, fgmres or richardson takes";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = true;
  Boxed<InnerMethod> inner;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  /// What an InnerSolver refuses, and a preconditioner that its solver cannot take.
  OptionConflict conflict() const;
  static constexpr std::string_view varies() { return "an inner solver"; }
};
template <class Fields>
void describe(Fields& fields, InnerSolverOptions& o) {
  fields.section("inner", o.inner.value(), "what stands inside");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const InnerSolverOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const InnerSolverOptions&, const PreconditionerInput<T>&);

}  // namespace krill
