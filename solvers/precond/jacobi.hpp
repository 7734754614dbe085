// The inverse of the diagonal.
#pragma once
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"

namespace krill {

struct JacobiOptions {
  static constexpr std::string_view type = "jacobi";
  static constexpr std::string_view doc = "the inverse of the diagonal";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  static constexpr KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields&, JacobiOptions&) {}

template <class T>
MadePreconditioner<T> make(Context&, const JacobiOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const JacobiOptions&, const PreconditionerInput<T>&);

}  // namespace krill
