// Incomplete factorizations.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/bic0.hpp"
#include "solvers/precond/bilu0.hpp"
#include "solvers/precond/ic0.hpp"
#include "solvers/precond/ilu0.hpp"
#include "solvers/precond/paric0.hpp"
#include "solvers/precond/parilu0.hpp"

namespace krill::apps::verify {

inline Judging judging(const FactorRecipe& recipe) {
  Judging j{.factor = recipe};
  if (recipe.solve.method != FactorSolveMethod::automatic)
    j.variant = fmt::format(" with {}", triangular_solve_names[static_cast<std::size_t>(recipe.solve.method)]);
  return j;
}
inline FactorRecipe recipe(const Ilu0Options& o) {
  return {.boost = o.boost, .boost_tolerance = o.boost_tolerance, .shift = o.shift, .solve = o.solve};
}
inline FactorRecipe recipe(const Ic0Options& o) { return {.kind = Factorization::ic0, .solve = o.solve}; }
inline FactorRecipe in_blocks(FactorRecipe recipe) {
  recipe.in_blocks = true;
  return recipe;
}

inline Judging judging(const Ilu0Options& o) { return judging(recipe(o)); }
inline Judging judging(const Ic0Options& o) { return judging(recipe(o)); }
inline Judging judging(const Bilu0Options& o) { return judging(in_blocks(recipe(o))); }
inline Judging judging(const Bic0Options& o) { return judging(in_blocks(recipe(o))); }
inline Judging judging(const Parilu0Options& o) {
  return judging(FactorRecipe{.sweeps = o.sweeps, .shift = o.shift, .solve = o.solve});
}
inline Judging judging(const Paric0Options& o) {
  return judging(FactorRecipe{.kind = Factorization::ic0, .sweeps = o.sweeps, .solve = o.solve});
}

/// The factor is the library's own, which has a check of its own.
template <class T, OneOf<Ilu0Options, Ic0Options, Bilu0Options, Bic0Options, Parilu0Options, Paric0Options> Options>
BoundedVector<T> reference(const Options& o, const Question<T>& q) {
  const FactorRecipe recipe = *judging(o).factor;
  return solve_with_factor(recipe, make_factor(q.ctx, recipe, q.matrix, q.report), q.r);
}

}  // namespace krill::apps::verify
