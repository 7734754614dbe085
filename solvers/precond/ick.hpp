// Incomplete Cholesky factorization with fill by levels.
#pragma once
#include <string_view>

#include "solvers/precond/ic0.hpp"

namespace krill {

struct IckOptions : Ic0Options {
  static constexpr std::string_view type = "ick";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorization with the fill of some levels (Gustafsson 1978), for Hermitian positive "
      "definite "
      "systems that ic0 is too weak for; level 0 is ic0, shifts as there";
  int level = 1;

  FactorRecipe recipe() const {
    FactorRecipe r = Ic0Options::recipe();
    r.type = type, r.level = level;
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, IckOptions& o) {
  detail::describe_fill_level(fields, o.level);
  describe(fields, static_cast<Ic0Options&>(o));
}

}  // namespace krill
