// Solves with triangles, exact and approximate.
#include <fmt/format.h>

#include "apps/verify/references/approximate_solves.hpp"
#include "apps/verify/trial.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/triangular/approximate.hpp"
#include "sparse/triangular/triangular.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view substitution_bound =
    "|alpha b - T x|_i <= gamma_(k + 3) (|T| |x| + |alpha b|)_i with k the entries of row i, the inverse of the "
    "diagonal rounded (Higham 2002, theorem 8.5); no condition number enters";
constexpr std::string_view approximate_bound =
    "running error analysis of the same products and quotients (Higham 2002, section 3.3)";

constexpr const char* out_of_range = "the solution leaves the range of the precision";

std::string name_of(const Triangle& t) {
  return std::string(t.fill == Fill::lower ? "lower" : "upper") + (t.diagonal == Diagonal::unit ? " unit" : "") +
         std::string(op_name(t.op));
}

/// A triangle of a subject, right-hand sides, and the solutions by substitution.
template <class T>
struct Trial {
  Triangle triangle;
  Rows<T> rows;  ///< op of the triangle
  std::vector<BoundedVector<T>> solutions;
  bool in_range = true;  ///< no solution overflows

  Trial(const Subject<T>& s, const Triangle& t) : triangle(t), rows(triangle_of(s.rows, t)) {
    for (const auto& b : s.y) {
      solutions.push_back(substitute(rows, t.solved(), some_alpha<T>(), bounded<T>(b.values)));
      for (const Bounded<T>& x : solutions.back())
        in_range = in_range && modulus(x.value) < std::numeric_limits<real_t<T>>::max() / 1024;
    }
  }
};

template <class T>
Comparison compare_solution(const Trial<T>& trial, std::size_t k, std::span<const T> b, std::span<const T> x) {
  Comparison c = compare_substitution(trial.rows, some_alpha<T>(), b, x);
  const Comparison forward = compare<T>(x, trial.solutions[k]);
  c.ulps = forward.ulps, c.relative = forward.relative;
  return c;
}

template <class T, class Solve>
void check_solve(Ledger& ledger, const std::string& name, const Subject<T>& s, const Trial<T>& trial,
                 const Solve& solve) {
  if (!trial.in_range) return ledger.not_checked(name, out_of_range);
  ledger.check(name, substitution_bound, [&] {
    Comparison all;
    for (std::size_t k = 0; k < s.y.size(); ++k) {
      Array<T> x = array(s.y[k].values, "b");  // solved in place
      solve(x);
      all.merge(compare_solution<T>(trial, k, s.y[k].values, x.host()), s.y[k].name);
    }
    return all;
  });
}

/// All right-hand sides at once, as columns.
template <class T>
void check_columns(Ledger& ledger, Context& ctx, const std::string& name, const Subject<T>& s, const Trial<T>& trial,
                   const TriangularPlan<T>& plan) {
  if (!trial.in_range) return;
  ledger.check(name, substitution_bound, [&] {
    const auto n = s.y[0].values.size();
    std::vector<T> columns;
    for (const auto& b : s.y) columns.insert(columns.end(), b.values.begin(), b.values.end());
    const Dense<T> B(s.A.rows(), std::ssize(s.y), Array<T>(std::move(columns)));
    Dense<T> X(s.A.rows(), std::ssize(s.y));
    plan.solve(ctx, some_alpha<T>(), B, X);
    Comparison all;
    for (std::size_t k = 0; k < s.y.size(); ++k)
      all.merge(compare_solution<T>(trial, k, s.y[k].values, X.values().host().subspan(k * n, n)), s.y[k].name);
    return all;
  });
}

template <class T>
void check_approximate(Ledger& ledger, Context& ctx, const Subject<T>& s, const Trial<T>& trial,
                       const ApproximateOptions& options) {
  const std::string method = options.method == ApproximateMethod::jacobi ? "jacobi sweeps" : "isai";
  const std::string name = fmt::format("{} by {} ({})", name_of(trial.triangle), method, options.steps);
  if (!trial.in_range) return ledger.not_checked(name, out_of_range);
  ledger.check(name, approximate_bound, [&] {
    const ApproximateTriangularPlan<T> plan(ctx, s.A, trial.triangle, options);
    Comparison all;
    for (const auto& b : s.y) {
      Array<T> x(std::ssize(b.values), "x");
      plan.solve(ctx, some_alpha<T>(), array(b.values, "b"), x);
      const auto solve = options.method == ApproximateMethod::jacobi ? solve_by_sweeps<T> : solve_by_inverse<T>;
      all.merge(
          compare<T>(x.host(), solve(s.rows, trial.triangle, options.steps, some_alpha<T>(), bounded<T>(b.values))),
          b.name);
    }
    return all;
  });
}

/// From matrices with other values and in other types.
template <class T>
void check_other_matrices(Ledger& ledger, Context& ctx, const Subject<T>& s, const Trial<T>& trial) {
  TriangularPlan<T> updated(ctx, with_other_values(s.A), trial.triangle);
  updated.update(ctx, s.A);
  check_solve(ledger, name_of(trial.triangle) + ", new values", s, trial,
              [&](Array<T>& x) { updated.solve(ctx, some_alpha<T>(), x, x); });
  const auto wide = with_offsets<std::int64_t>(ctx, s.A.clone());
  const TriangularPlan<T, std::int64_t> of_wide(ctx, wide, trial.triangle);
  check_solve(ledger, name_of(trial.triangle) + " with 64-bit offsets", s, trial,
              [&](Array<T>& x) { of_wide.solve(ctx, some_alpha<T>(), x, x); });
  const TriangularPlan<T> of_blocks(ctx, to_bsr(ctx, s.A, Blocking{2, 2}, GrowthLimit{1e6}), trial.triangle);
  check_solve(ledger, name_of(trial.triangle) + " of bsr", s, trial,
              [&](Array<T>& x) { of_blocks.solve(ctx, some_alpha<T>(), x, x); });
}

/// The first row whose diagonal entry is missing, or 0, where the triangle looks at it.
template <class T>
std::optional<std::int32_t> first_bad_pivot(const Rows<T>& A, const Triangle& triangle) {
  for (std::int32_t i = 0; i < A.rows && triangle.diagonal == Diagonal::stored; ++i)
    if (A.at(i, i) == T(0)) return i;
  return std::nullopt;
}

template <class T>
void check_triangle(Ledger& ledger, Context& ctx, const Subject<T>& s, const Triangle& triangle,
                    const Selection& selection) {
  const auto bad = first_bad_pivot(s.rows, triangle), found = TriangularPlan<T>(ctx, s.A, triangle).zero_pivot();
  if (bad != found)
    return ledger.fail(name_of(triangle), fmt::format("row {} has no diagonal entry, or 0 (-1: none), the plan says {}",
                                                      bad.value_or(-1), found.value_or(-1)));
  if (bad) return ledger.not_checked(name_of(triangle), fmt::format("row {} has no diagonal entry, or 0", *bad));
  const Trial<T> trial(s, triangle);
  for (const TriangularMethod method : selection.triangular) {
    const TriangularPlan<T> plan(ctx, s.A, triangle, {.method = method});
    const std::string name = name_of(triangle) + " by " + std::string(krill::name(method));
    check_solve(ledger, name, s, trial, [&](Array<T>& x) { plan.solve(ctx, some_alpha<T>(), x, x); });
    if (selection.whole_library) check_columns(ledger, ctx, name + ", columns", s, trial, plan);
  }
  for (const ApproximateOptions& options : selection.approximate) check_approximate(ledger, ctx, s, trial, options);
  if (selection.whole_library) check_other_matrices(ledger, ctx, s, trial);
}

}  // namespace

template <class T>
void check_triangles(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  for (const Triangle& triangle : selection.triangles) check_triangle(ledger, ctx, s, triangle, selection);
}

template <class T>
struct TriangleSuiteInstances {
  static constexpr auto list = instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_triangles);
};
KRILL_INSTANTIATE(TriangleSuiteInstances);

}  // namespace krill::apps::verify
