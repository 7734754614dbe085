// Incomplete LU factorization with fill by levels.
#pragma once
#include <string_view>

#include "solvers/precond/ilu0.hpp"

namespace krill {

struct IlukOptions : Ilu0Options {
  static constexpr std::string_view type = "iluk";
  static constexpr std::string_view doc =
      "incomplete LU factorization with the fill of some levels (Gustafsson 1978), for general systems that ilu0 is "
      "too "
      "weak for; level 0 is ilu0";
  int level = 1;

  FactorRecipe recipe() const {
    FactorRecipe r = Ilu0Options::recipe();
    r.type = type, r.level = level;
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, IlukOptions& o) {
  detail::describe_fill_level(fields, o.level);
  describe(fields, static_cast<Ilu0Options&>(o));
}

}  // namespace krill
