// The tridiagonal part of the matrix.
#pragma once
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"

namespace krill {

struct TridiagonalOptions {
  static constexpr std::string_view type = "tridiagonal";
  static constexpr std::string_view doc = "a solve with the diagonal and its two neighbors, in the order that A has";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, TridiagonalOptions& o) {
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const TridiagonalOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const TridiagonalOptions&, const PreconditionerInput<T>&);

}  // namespace krill
