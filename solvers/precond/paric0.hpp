// Incomplete Cholesky factorization by sweeps.
#pragma once
#include <string_view>

#include "solvers/precond/factor_options.hpp"

namespace krill {

/// A Cholesky factorization by sweeps, in the pattern of A or another.
template <int usual_sweeps>
struct SweptCholeskyOptions {
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  int sweeps = usual_sweeps;
  ShiftOptions<CholeskyShift> shift{CholeskyShift::positive_definite};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};

  static constexpr PcgFit suits_pcg() { return {true}; }
  OptionConflict conflict() const { return detail::conflict_of(shift); }
  FactorRecipe recipe_of(std::string_view type) const {
    return {.type = type, .kind = Factorization::ic0, .sweeps = sweeps, .cholesky_shift = shift, .solve = solve};
  }
};
template <class Fields, int usual_sweeps>
void describe(Fields& fields, SweptCholeskyOptions<usual_sweeps>& o) {
  detail::describe_factor_sweeps(fields, o.sweeps);
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

struct Paric0Options : SweptCholeskyOptions<5> {
  static constexpr std::string_view type = "paric0";
  static constexpr std::string_view doc =
      "ic0 as the fixed point of sweeps over all entries at once (Chow and Patel 2015), in which no row waits for "
      "another; shifts as in ic0";

  FactorRecipe recipe() const { return recipe_of(type); }
};

}  // namespace krill
