// Incomplete Cholesky factorization by sweeps, in a pattern that cycles of them choose.
#pragma once
#include <string_view>

#include "solvers/precond/paric0.hpp"

namespace krill {

struct ParictOptions : SweptCholeskyOptions<15> {
  static constexpr std::string_view type = "parict";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorization ParICT, whose largest entries stay (Anzt, Chow and Dongarra 2018), for "
      "Hermitian positive definite systems that ic0 is too weak for; pattern and factor are found by sweeps in which "
      "no row waits for another, on cuda, too; shifts as in ic0";
  double fill = GrowthOptions{}.fill;
  int cycles = GrowthOptions{}.cycles;

  FactorRecipe recipe() const {
    FactorRecipe r = recipe_of(type);
    r.growth = GrowthOptions{fill, cycles};
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, ParictOptions& o) {
  detail::describe_growth(fields, o.fill, o.cycles);
  describe(fields, static_cast<SweptCholeskyOptions<15>&>(o));
}

}  // namespace krill
