// No preconditioner, and `auto`, which stands for one that is not chosen yet.
#pragma once
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"

namespace krill {

struct NoPreconditioner {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "no preconditioner";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  static constexpr KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields&, NoPreconditioner&) {}

template <class T>
MadePreconditioner<T> make(Context&, const NoPreconditioner&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const NoPreconditioner&, const PreconditionerInput<T>&);

/// Not chosen yet: once the matrix is known, another alternative takes its place, before one is made.
struct AutoPreconditioner {
  static constexpr std::string_view type = "auto";
  static constexpr std::string_view doc =
      "what suits the matrix, the solver and the backend, by the rules of `krill inspect`; the report says what was "
      "chosen and why";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  static constexpr KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields&, AutoPreconditioner&) {}

template <class T>
MadePreconditioner<T> make(Context&, const AutoPreconditioner&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const AutoPreconditioner&, const PreconditionerInput<T>&);

}  // namespace krill
