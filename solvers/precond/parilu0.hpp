// Incomplete LU factorization by sweeps.
#pragma once
#include <string_view>

#include "solvers/precond/factor_options.hpp"

namespace krill {

/// An LU factorization by sweeps, in the pattern of A or another.
template <int usual_sweeps>
struct SweptLuOptions {
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  int sweeps = usual_sweeps;
  ShiftOptions<LuShift> shift = {};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};

  OptionConflict conflict() const { return detail::conflict_of(shift); }
  FactorRecipe recipe_of(std::string_view type) const {
    return {.type = type, .sweeps = sweeps, .lu_shift = shift, .solve = solve};
  }
};
template <class Fields, int usual_sweeps>
void describe(Fields& fields, SweptLuOptions<usual_sweeps>& o) {
  detail::describe_factor_sweeps(fields, o.sweeps);
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

struct Parilu0Options : SweptLuOptions<5> {
  static constexpr std::string_view type = "parilu0";
  static constexpr std::string_view doc =
      "ilu0 as the fixed point of sweeps over all entries at once (Chow and Patel 2015), in which no row waits for "
      "another";

  static constexpr PcgFit suits_pcg() { return {false}; }
  FactorRecipe recipe() const { return recipe_of(type); }
};

}  // namespace krill
