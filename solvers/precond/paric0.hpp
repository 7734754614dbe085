// Incomplete Cholesky factorization by sweeps.
#pragma once
#include <string_view>

#include "solvers/precond/factor_options.hpp"

namespace krill {

struct Paric0Options {
  static constexpr std::string_view type = "paric0";
  static constexpr std::string_view doc =
      "ic0 as the fixed point of sweeps over all entries at once (Chow and Patel 2015), in which no row waits for "
      "another; shifts as in ic0";
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  int sweeps = 5;
  ShiftOptions<CholeskyShift> shift{CholeskyShift::positive_definite};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};

  static constexpr PcgFit suits_pcg() { return {true}; }
  OptionConflict conflict() const { return detail::conflict_of(shift); }
  FactorRecipe recipe() const {
    return {.type = type, .kind = Factorization::ic0, .sweeps = sweeps, .cholesky_shift = shift, .solve = solve};
  }
};
template <class Fields>
void describe(Fields& fields, Paric0Options& o) {
  detail::describe_factor_sweeps(fields, o.sweeps);
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

}  // namespace krill
