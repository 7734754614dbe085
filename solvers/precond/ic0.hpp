// Incomplete Cholesky factorization in the pattern of A.
#pragma once
#include <string_view>

#include "solvers/precond/factor_options.hpp"

namespace krill {

struct Ic0Options {
  static constexpr std::string_view type = "ic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorization in the pattern of A (Meijerink and van der Vorst 1977), for Hermitian "
      "positive "
      "definite systems; where it breaks down, with the diagonal multiplied by 1 + shift (Manteuffel 1980)";
  static constexpr bool solves_triangles = true;
  static constexpr bool multiplies_with_matrix = false;
  ShiftOptions<CholeskyShift> shift{CholeskyShift::positive_definite};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};

  static constexpr PcgFit suits_pcg() { return {true}; }
  OptionConflict conflict() const { return detail::conflict_of(shift); }
  FactorRecipe recipe() const {
    return {.type = type, .kind = Factorization::ic0, .cholesky_shift = shift, .solve = solve};
  }
};
template <class Fields>
void describe(Fields& fields, Ic0Options& o) {
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

}  // namespace krill
