#include "krill/apps/verify/factor.hpp"

#include <fmt/format.h>

#include "krill/apps/verify/approximate_reference.hpp"
#include "krill/solvers/precond/block_dim.hpp"
#include "krill/solvers/precond/factored.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/overloaded.hpp"
#include "krill/sparse/factor/fixed_point.hpp"

namespace krill::apps::verify {
namespace {

FactorRecipe recipe(const Ilu0Options& o) {
  return {.boost = o.boost, .boost_tolerance = o.boost_tolerance, .shift = o.shift, .solve = o.solve};
}
FactorRecipe recipe(const Ic0Options& o) { return {.kind = Factorization::ic0, .solve = o.solve}; }

double shift_of(const PreconditionerReport& report) {
  for (const Fact& fact : report.facts)
    if (fact.name == "shift") return std::get<double>(fact.value);
  return 0;
}

/// A in CSR, with the zeros that fill up its blocks.
template <class T>
Csr<T> pattern_of(Context& ctx, const FactorRecipe& recipe, const AnyMatrix<T>& A) {
  const auto narrow = [&](const AnyMatrix<T>& matrix) {
    return with_csr(ctx, matrix, [&](const auto& csr) { return with_offsets<std::int32_t>(ctx, csr.clone()); });
  };
  if (!recipe.in_blocks) return narrow(A);
  const std::int32_t dim = choose_block_dim(ctx, recipe.block_dim, largest_block_dim, A).dim;
  return narrow(with_csr(ctx, A, [&](const auto& csr) { return AnyMatrix<T>(to_bsr(ctx, csr, Blocking{dim, dim})); }));
}

}  // namespace

std::optional<FactorRecipe> factor_recipe(const PreconditionerOptions& options) {
  using Found = std::optional<FactorRecipe>;
  const auto blocks = [](FactorRecipe r, int dim) {
    r.in_blocks = true;
    r.block_dim = dim;
    return r;
  };
  return std::visit(Overloaded{[](const Ilu0Options& o) -> Found { return recipe(o); },
                               [](const Ic0Options& o) -> Found { return recipe(o); },
                               [&](const Bilu0Options& o) -> Found { return blocks(recipe(o), o.block_dim); },
                               [&](const Bic0Options& o) -> Found { return blocks(recipe(o), o.block_dim); },
                               [](const Parilu0Options& o) -> Found {
                                 return FactorRecipe{.sweeps = o.sweeps, .shift = o.shift, .solve = o.solve};
                               },
                               [](const Paric0Options& o) -> Found {
                                 return FactorRecipe{.kind = Factorization::ic0, .sweeps = o.sweeps, .solve = o.solve};
                               },
                               [](const auto&) -> Found { return {}; }},
                    options);
}

template <class T>
Factor<T> make_factor(Context& ctx, const FactorRecipe& recipe, const AnyMatrix<T>& A,
                      const PreconditionerReport& report) {
  Factor<T> made{pattern_of(ctx, recipe, A), {}, shift_of(report), 0};
  const auto keep = [&](auto factor) {
    factor.update(ctx, made.A, made.shift);
    if (const auto row = factor.zero_pivot())
      throw InvalidArgument(fmt::format("the pivot of row {} is missing, 0 or not positive", *row));
    const auto values = factor.matrix().values().host();
    made.values.assign(values.begin(), values.end());
    if constexpr (requires { factor.boosts(); }) made.boosts = factor.boosts();
  };
  const std::optional<PivotBoost<T>> boost = pivot_boost(ctx, recipe, made.A);
  if (recipe.sweeps > 0)
    keep(FixedPointFactor<T>::analyze(ctx, made.A, recipe.kind, recipe.sweeps, boost));
  else
    keep(IncompleteFactor<T>::analyze(ctx, made.A, recipe.kind, boost));
  return made;
}

template <class T>
BoundedVector<T> solve_with_factor(const FactorRecipe& recipe, const Factor<T>& factor, const BoundedVector<T>& r) {
  Rows<T> rows = rows_of(factor.A);
  rows.value = factor.values;
  const bool lu = recipe.kind == Factorization::ilu0;
  const auto solve = [&](const Triangle& t, const BoundedVector<T>& b) {
    const auto method = recipe.solve.method;
    const Rows<T> stored = triangle_of(rows, {t.fill, t.diagonal});
    if (method == TriangularSolve::jacobi)
      return solve_approximately(stored, t, {ApproximateMethod::jacobi, recipe.solve.sweeps}, T(1), b);
    if (method == TriangularSolve::isai)
      return solve_approximately(stored, t, {ApproximateMethod::isai, recipe.solve.corrections}, T(1), b);
    return substitute(transposed(stored, t.op), t.solved(), T(1), b);
  };
  const BoundedVector<T> y = solve({Fill::lower, lu ? Diagonal::unit : Diagonal::stored}, r);
  return solve(lu ? Triangle{Fill::upper} : Triangle{Fill::lower, Diagonal::stored, Op::adjoint}, y);
}

#define INSTANTIATE(T)                                                                                             \
  template Factor<T> make_factor(Context&, const FactorRecipe&, const AnyMatrix<T>&, const PreconditionerReport&); \
  template BoundedVector<T> solve_with_factor(const FactorRecipe&, const Factor<T>&, const BoundedVector<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
