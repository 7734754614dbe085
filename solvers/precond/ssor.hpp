// Symmetric successive overrelaxation.
#pragma once
#include <string_view>

#include "solvers/precond/gauss_seidel.hpp"
#include "solvers/range.hpp"

namespace krill {

struct SsorOptions {
  static constexpr std::string_view type = "ssor";
  static constexpr std::string_view doc =
      "symmetric successive overrelaxation in the order of rows (Axelsson 1972); omega 1 is symmetric Gauss-Seidel";
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  double omega = 1;
  TriangularMethod triangular_solve = TriangularMethod::automatic;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, SsorOptions& o) {
  fields.value("omega", o.omega, Range{0.0, 2.0, true, true}, "the relaxation");
  detail::describe_triangular_solve(fields, o.triangular_solve);
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const SsorOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const SsorOptions&, const PreconditionerInput<T>&);

}  // namespace krill
