// Incomplete LU factorization in the pattern of the blocks of A.
#pragma once
#include <string_view>

#include "solvers/precond/ilu0.hpp"

namespace krill {

struct Bilu0Options : Ilu0Options {
  static constexpr std::string_view type = "bilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorization in the pattern of A's blocks: the zeros inside them belong to it, for general "
      "systems";
  int block_dim = 0;

  FactorRecipe recipe() const {
    FactorRecipe r = Ilu0Options::recipe();
    r.type = type, r.block_dim = block_dim;
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, Bilu0Options& o) {
  detail::describe_factored_blocks(fields, o.block_dim);
  describe(fields, static_cast<Ilu0Options&>(o));
}

}  // namespace krill
