// Gauss-Seidel sweeps.
#pragma once
#include <array>
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "sparse/triangular/method.hpp"

namespace krill {

namespace detail {
template <class Fields>
void describe_triangular_solve(Fields& fields, TriangularMethod& o) {
  fields.choice("triangular_solve", o, triangular_method_names,
                "how triangles are solved: by rows as they stand, sorted by level, with a kernel for each level, "
                "or by one block of threads that goes through the levels");
}
}  // namespace detail

/// Which way a Gauss-Seidel sweep goes: from the first row to the last, from the last to the first, or both ways.
enum class SweepDirection { forward, backward, symmetric };
inline constexpr std::array<std::string_view, 3> sweep_direction_names{"forward", "backward", "symmetric"};

struct GaussSeidelOptions {
  static constexpr std::string_view type = "gauss_seidel";
  static constexpr std::string_view doc =
      "a Gauss-Seidel sweep in the order of rows; with direction symmetric, for Hermitian positive definite systems, "
      "too";
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  SweepDirection direction = SweepDirection::symmetric;
  TriangularMethod triangular_solve = TriangularMethod::automatic;
  KeptPrecision precision = KeptPrecision::automatic;

  constexpr PcgFit suits_pcg() const {
    return {direction == SweepDirection::symmetric, "direction",
            sweep_direction_names[static_cast<std::size_t>(direction)], "symmetric"};
  }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, GaussSeidelOptions& o) {
  fields.choice("direction", o.direction, sweep_direction_names,
                "forward: with the lower triangle of A; backward: with the upper one; symmetric: one after the other");
  detail::describe_triangular_solve(fields, o.triangular_solve);
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const GaussSeidelOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const GaussSeidelOptions&, const PreconditionerInput<T>&);

}  // namespace krill
