// Incomplete factorizations.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/factor_options.hpp"

namespace krill::apps::verify {

inline Judging judging(const FactorRecipe& recipe) {
  Judging j{.factor = recipe};
  if (recipe.solve.method != FactorSolveMethod::automatic)
    j.variant = fmt::format(" with {}", triangular_solve_names[static_cast<std::size_t>(recipe.solve.method)]);
  return j;
}
inline Judging judging(const FactorizationOptions auto& o) { return judging(o.recipe()); }

/// The factor is the library's own, which has a check of its own.
template <class T, FactorizationOptions Options>
BoundedVector<T> reference(const Options& o, const Question<T>& q) {
  const FactorRecipe recipe = o.recipe();
  return solve_with_factor(recipe, make_factor(q.ctx, recipe, q.matrix, q.report), q.r);
}

}  // namespace krill::apps::verify
