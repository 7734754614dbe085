// Incomplete LU factorization in the pattern of A.
#pragma once
#include <string_view>

#include "solvers/precond/factor_options.hpp"

namespace krill {

/// A boost other than 0 takes the place of the shift.
struct Ilu0Options {
  static constexpr std::string_view type = "ilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorization in the pattern of A (Meijerink and van der Vorst 1977), for general systems; in "
      "blocks "
      "(format bsr) the zeros inside them belong to the pattern";
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  double boost = 0;
  double boost_tolerance = 0;
  ShiftOptions<LuShift> shift = {};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};

  static constexpr PcgFit suits_pcg() { return {false}; }
  OptionConflict conflict() const { return detail::conflict_of(shift, boost); }
  FactorRecipe recipe() const {
    return {.type = type, .boost = boost, .boost_tolerance = boost_tolerance, .lu_shift = shift, .solve = solve};
  }
};
template <class Fields>
void describe(Fields& fields, Ilu0Options& o) {
  fields.value("boost", o.boost, any_value, "the value that replaces a pivot that is too small; 0: none is replaced");
  fields.value("boost_tolerance", o.boost_tolerance, at_least_zero,
               "a pivot is too small if its modulus is at most this");
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

}  // namespace krill
