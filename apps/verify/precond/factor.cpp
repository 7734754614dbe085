#include "apps/verify/precond/factor.hpp"

#include <fmt/format.h>

#include "apps/verify/references/approximate_solves.hpp"
#include "apps/verify/references/fill.hpp"
#include "solvers/precond/factored.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/factor/fixed_point.hpp"
#include "sparse/factor/fixed_point_threshold.hpp"
#include "sparse/factor/threshold.hpp"

namespace krill::apps::verify {
namespace {

template <class Number>
std::optional<Number> find_fact(const PreconditionerReport& report, std::string_view name) {
  for (const Fact& f : report.facts)
    if (f.name == name) return std::get<Number>(f.value);
  return {};
}

}  // namespace

template <class T>
Factor<T> make_factor(Context& ctx, const FactorRecipe& recipe, const AnyMatrix<T>& A,
                      const PreconditionerReport& report) {
  Factor<T> made{rows_of(A), {}, find_fact<double>(report, "shift").value_or(0), 0};
  if (recipe.block_dim)
    made.A = with_blocks(made.A, static_cast<std::int32_t>(find_fact<std::int64_t>(report, "block_dim").value()));
  if (recipe.level) made.A = with_fill(made.A, recipe.kind, *recipe.level);
  if (recipe.growth) {
    const Csr<T> given = csr_of(made.A);
    const auto boost = krill::detail::pivot_boost(ctx, recipe, given);
    made.A = rows_of(fill_by_sweeps(ctx, given, recipe.kind, *recipe.growth, {}, boost).matrix());
  }
  const Csr<T> matrix = csr_of(made.A);
  const auto keep = [&](auto factor) {
    factor.update(ctx, matrix, made.shift);
    if (const auto row = factor.numerical_zero() ? factor.numerical_zero() : factor.structural_zero())
      throw InvalidArgument(fmt::format("the pivot of row {} is missing, 0 or not positive", *row));
    if (recipe.drops) made.A = rows_of(factor.matrix());
    const auto values = factor.matrix().values().host();
    made.values.assign(values.begin(), values.end());
    if constexpr (requires { factor.boosts(); }) made.boosts = factor.boosts();
    if constexpr (requires { factor.columns(); }) {
      const auto columns = factor.columns().host();
      made.columns.assign(columns.begin(), columns.end());
    }
  };
  const std::optional<PivotBoost<T>> boost = krill::detail::pivot_boost(ctx, recipe, matrix);
  if (recipe.drops)
    keep(ThresholdFactor<T>::analyze(ctx, matrix, recipe.kind, *recipe.drops, {}, boost));
  else if (recipe.sweeps > 0)
    keep(FixedPointFactor<T>::analyze(ctx, matrix, recipe.kind, recipe.sweeps, boost));
  else
    keep(IncompleteFactor<T>::analyze(ctx, matrix, recipe.kind, boost));
  return made;
}

template <class T>
BoundedVector<T> solve_with_factor(const FactorRecipe& recipe, const Factor<T>& factor, const BoundedVector<T>& r) {
  Rows<T> rows = factor.A;
  rows.value = factor.values;
  const bool lu = recipe.kind == Factorization::ilu0;
  const auto solve = [&](const Triangle& t, const BoundedVector<T>& b) {
    const auto method = recipe.solve.method;
    if (method == FactorSolveMethod::jacobi) return solve_by_sweeps(rows, t, recipe.solve.sweeps, T(1), b);
    if (method == FactorSolveMethod::isai) return solve_by_inverse(rows, t, recipe.solve.corrections, T(1), b);
    return substitute(triangle_of(rows, t), t.solved(), T(1), b);
  };
  const BoundedVector<T> y = solve({Fill::lower, lu ? Diagonal::unit : Diagonal::stored}, r);
  const BoundedVector<T> z =
      solve(lu ? Triangle{Fill::upper} : Triangle{Fill::lower, Diagonal::stored, Op::adjoint}, y);
  BoundedVector<T> in_order = z;
  for (std::size_t j = 0; j < factor.columns.size(); ++j) in_order[as_size(factor.columns[j])] = z[j];
  return in_order;
}

template <class T>
struct FactorInstances {
  static constexpr std::tuple list{
      instance<Factor<T>(Context&, const FactorRecipe&, const AnyMatrix<T>&, const PreconditionerReport&)>(make_factor),
      instance<BoundedVector<T>(const FactorRecipe&, const Factor<T>&, const BoundedVector<T>&)>(solve_with_factor)};
};
KRILL_INSTANTIATE(FactorInstances);

}  // namespace krill::apps::verify
