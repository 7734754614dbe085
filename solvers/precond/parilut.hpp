// Incomplete LU factorization by sweeps, in a pattern that cycles of them choose.
#pragma once
#include <string_view>

#include "solvers/precond/parilu0.hpp"

namespace krill {

struct ParilutOptions : SweptLuOptions<15> {
  static constexpr std::string_view type = "parilut";
  static constexpr std::string_view doc =
      "incomplete LU factorization ParILUT, whose largest entries stay (Anzt, Chow and Dongarra 2018), for general "
      "systems that ilu0 is too weak for; pattern and factor are found by sweeps in which no row waits for another, on "
      "cuda, too";
  double fill = GrowthOptions{}.fill;
  int cycles = GrowthOptions{}.cycles;

  /// Not Hermitian where A is: entries of L and of U are dropped each for themselves.
  static constexpr PcgFit suits_pcg() { return {false, "type", type, "parict"}; }
  FactorRecipe recipe() const {
    FactorRecipe r = recipe_of(type);
    r.growth = GrowthOptions{fill, cycles};
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, ParilutOptions& o) {
  detail::describe_growth(fields, o.fill, o.cycles);
  describe(fields, static_cast<SweptLuOptions<15>&>(o));
}

}  // namespace krill
