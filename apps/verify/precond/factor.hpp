// The incomplete factor that a preconditioner is made of, made once more by the library's doors.
#pragma once
#include <optional>

#include "apps/verify/references/entries.hpp"
#include "apps/verify/references/factorization.hpp"
#include "apps/verify/references/products.hpp"
#include "apps/verify/references/substitution.hpp"
#include "solvers/precond/preconditioner.hpp"

namespace krill::apps::verify {

template <class T>
struct Factor {
  Rows<T> A;              ///< with the zeros inside of blocks, or of fill; in the pattern of a factor that chooses it
  std::vector<T> values;  ///< of the factor, in A's pattern
  double shift = 0;
  std::int32_t boosts = 0;
  std::vector<std::int32_t> columns = {};  ///< of A, as pivoting ordered them; empty: none moved
};

/// On the context's backend. `report`: of the preconditioner, which knows the shift. Raises InvalidArgument where the
/// factor has a bad pivot.
template <class T>
Factor<T> make_factor(Context&, const FactorRecipe&, const AnyMatrix<T>& A, const PreconditionerReport& report);

/// r with the factor's two triangles solved, as the recipe says, in the order of A's columns.
template <class T>
BoundedVector<T> solve_with_factor(const FactorRecipe&, const Factor<T>&, const BoundedVector<T>& r);

}  // namespace krill::apps::verify
