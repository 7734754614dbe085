// Incomplete Cholesky factorization in the pattern of the blocks of A.
#pragma once
#include <string_view>

#include "solvers/precond/ic0.hpp"

namespace krill {

struct Bic0Options : Ic0Options {
  static constexpr std::string_view type = "bic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorization in the pattern of A's blocks: the zeros inside them belong to it, for "
      "Hermitian "
      "positive definite systems; shifts as in ic0";
  int block_dim = 0;

  FactorRecipe recipe() const {
    FactorRecipe r = Ic0Options::recipe();
    r.type = type, r.block_dim = block_dim;
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, Bic0Options& o) {
  detail::describe_factored_blocks(fields, o.block_dim);
  describe(fields, static_cast<Ic0Options&>(o));
}

}  // namespace krill
