// Lines of a structured grid.
#pragma once
#include <array>
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "solvers/range.hpp"

namespace krill {

/// automatic: the direction whose couplings are strongest; all: the sum of the solves along x, y and z.
enum class LineDirection { automatic, x, y, z, all };
inline constexpr std::array<std::string_view, 5> line_direction_names{"auto", "x", "y", "z", "all"};

/// A's unknown of point (x, y, z) is x + nx (y + ny z).
struct LineOptions {
  static constexpr std::string_view type = "line";
  static constexpr std::string_view doc =
      "solves along the lines of a structured grid, for couplings that are strong in one direction (line relaxation)";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  int nx = 0, ny = 0, nz = 0;
  LineDirection direction = LineDirection::automatic;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, LineOptions& o) {
  fields.value("nx", o.nx, at_least_zero,
               "points of the grid in its first direction, whose unknowns follow each other; 0: those of `generate`");
  fields.value("ny", o.ny, at_least_zero, "points in the second direction; 0: as `generate` has it, else 1");
  fields.value("nz", o.nz, at_least_zero, "points in the third direction; 0: as `generate` has it, else 1");
  fields.choice("direction", o.direction, line_direction_names,
                "of the lines; auto: the one with the strongest couplings; all: the sum of the solves in each");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const LineOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const LineOptions&, const PreconditionerInput<T>&);

}  // namespace krill
