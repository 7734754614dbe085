// Levels of smoothed aggregation, made by this room and by the judge, and the judge's own properties.
#include <gtest/gtest.h>

#include <numbers>

#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/coarsen/prolongator.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/spgemm/spgemm.hpp"
#include "tests/coarsen/aggregates.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/multigrid_oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Hierarchy = OnBackendAndScalar;

/// Nodes of a grid in boxes of `edge` in each direction.
std::vector<std::int32_t> boxes(int nx, int ny, int nz, int edge) {
  std::vector<std::int32_t> of_node;
  const int bx = (nx + edge - 1) / edge, by = (ny + edge - 1) / edge;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) of_node.push_back(x / edge + bx * (y / edge + by * (z / edge)));
  return of_node;
}

/// Pairs of different nodes that A couples; those with number p + q divisible by `weak` are left out.
Edges coupled(const Reference& A, std::int32_t dim, std::int32_t weak) {
  Edges edges;
  for (std::size_t k = 0; k < A.value.size(); ++k)
    if (const std::int32_t p = A.row[k] / dim, q = A.col[k] / dim; p != q && (p + q) % weak != 0) edges.insert({p, q});
  return edges;
}

struct Problem {
  Reference A;
  std::vector<std::vector<Z>> candidates;
  std::vector<CoarseningStep> steps;
};

/// Rows and columns times numbers of modulus 1, and candidates with them: as good a problem, and complex where T is.
template <class T>
void turn(Problem& problem) {
  std::vector<Z> phases;
  for (const T& number : random_vector<T>(5, problem.A.rows)) {
    const Z z(number);
    phases.push_back(is_complex<T> ? Z(std::round(z.real())) != Z(0) ? Z(0, 1) : Z(0.6, 0.8) : z.real() < 0 ? -1 : 1);
  }
  const auto phase = [&](std::int64_t i) { return phases[static_cast<std::size_t>(i)]; };
  for (std::size_t k = 0; k < problem.A.value.size(); ++k)
    problem.A.value[k] *= phase(problem.A.row[k]) * std::conj(phase(problem.A.col[k]));
  for (auto& column : problem.candidates)
    for (std::size_t i = 0; i < column.size(); ++i) column[i] *= phases[i];
}

/// A grid with weak connections between the boxes, twice coarsened by 3; the corner in no aggregate.
Problem grid() {
  Problem problem{reference(poisson2d<double>(18)), {std::vector<Z>(18 * 18, 1)}, {}};
  auto fine = boxes(18, 18, 1, 3);
  fine[0] = -1;
  problem.steps = {{fine, coupled(problem.A, 1, 7), 1, 2.0 / 3}, {boxes(6, 6, 1, 3), {}, 1, 0.5}};
  for (std::int32_t p = 0; p < 36; ++p)
    for (const std::int32_t q : {p + 1, p + 6})
      if (q < 36) problem.steps[1].strong.insert({p, q}), problem.steps[1].strong.insert({q, p});
  return problem;
}

/// A bar whose nodes go to boxes of up to 27, those to two.
Problem bar(Context& ctx) {
  const Elasticity3dOptions options{6, 2, 2, 1, 0.3};
  const Dense<double> modes = rigid_body_modes<double>(ctx, *node_coordinates(options));
  Problem problem{reference(std::get<Csr<double>>(generate<double>(options))), {}, {}};
  for (std::int64_t j = 0; j < 6; ++j) {
    problem.candidates.emplace_back();
    for (std::int64_t i = 0; i < modes.rows(); ++i) problem.candidates.back().push_back(modes.host().at(i, j));
  }
  problem.steps = {{boxes(6, 3, 3, 2), coupled(problem.A, 3, 11), 3, 0.4}, {boxes(3, 2, 2, 2), {}, 6, 0.3}};
  for (std::int32_t p = 0; p < 12; ++p)
    for (std::int32_t q = 0; q < p; ++q) problem.steps[1].strong.insert({p, q}), problem.steps[1].strong.insert({q, p});
  return problem;
}

template <class T>
Csr<T> from_reference(const Reference& A) {
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(A.rows) + 1);
  std::vector<T> values;
  for (std::size_t k = 0; k < A.value.size(); ++k) {
    ++offsets[static_cast<std::size_t>(A.row[k]) + 1];
    if constexpr (is_complex<T>)
      values.push_back(static_cast<T>(A.value[k]));
    else
      values.push_back(static_cast<T>(A.value[k].real()));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(A.rows); ++i) offsets[i + 1] += offsets[i];
  return {static_cast<std::int32_t>(A.cols), Array(std::move(offsets)), Array(A.col), Array(std::move(values))};
}

template <class T>
void expect_levels_of_judge(Context& ctx, Problem problem) {
  turn<T>(problem);
  const MultigridJudge judge(problem.A, problem.candidates, problem.steps);
  Csr<T> A = from_reference<T>(problem.A);
  Dense<T> b(A.rows(), std::ssize(problem.candidates));
  for (std::int64_t j = 0; j < b.cols(); ++j)
    for (std::int64_t i = 0; i < b.rows(); ++i) {
      const Z value = problem.candidates[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
      if constexpr (is_complex<T>)
        b.edit().at(i, j) = static_cast<T>(value);
      else
        b.edit().at(i, j) = static_cast<T>(value.real());
    }
  // Aggregates' candidates are independent with a condition below 100, so their orthogonal factors agree to 100 times
  // what a few operations round; a coarse entry adds up less than 1000 terms of such factors, of both signs.
  double tolerance = 1000 * epsilon<T>();
  for (std::size_t level = 0; level < problem.steps.size(); ++level) {
    const CoarseningStep& step = problem.steps[level];
    Tentative<T> tentative = tentative_prolongator<T>(ctx, make_aggregates(step.of_node), step.block_dim, b);
    const auto graph = make_graph<std::int32_t>(std::ssize(step.of_node), step.strong);
    SmoothedProlongator<T> P(ctx, graph, step.block_dim, tentative);
    P.update(ctx, A, graph, tentative, b, step.damping, 1.0);
    expect_near(reference(P.matrix()), judge.prolongator(static_cast<int>(level)), tolerance, "prolongator");
    TripleProductPlan<T> coarse(ctx, Op::adjoint, P.matrix(), A, P.matrix());
    coarse.update(ctx, T(1), P.matrix(), A, P.matrix());
    A = std::move(coarse).release();
    set_dead_diagonal(ctx, tentative.dead_columns, A);
    expect_near(reference(A), judge.matrix(static_cast<int>(level) + 1), tolerance, "coarse matrix");
    b = std::move(tentative.coarse_candidates);
    tolerance *= 10;
  }
}

TEST_P(Hierarchy, has_the_levels_of_the_judge) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    expect_levels_of_judge<T>(ctx, grid());
    expect_levels_of_judge<T>(ctx, bar(ctx));
  });
}

INSTANTIATE_TEST_SUITE_P(, Hierarchy, backends_and_scalars, param_name);

Z inner(const std::vector<Z>& u, const std::vector<Z>& v) {
  Z sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += std::conj(u[i]) * v[i];
  return sum;
}

std::vector<Z> times(const Reference& A, const std::vector<Z>& x) { return product(Op::none, 1, A, x, 0, x, 0).y; }

/// On eigenvectors sin(i t) of the tridiagonal matrix -1, 2, -1 the residual of k steps is W_k / (2 k + 1).
TEST(MultigridJudge, smooths_by_chebyshev_polynomials_of_the_fourth_kind) {
  constexpr std::int32_t n = 15;
  const Reference A = reference(std::get<Csr<double>>(generate<double>(Poisson1dOptions{n})));
  const MultigridJudge judge(A, {std::vector<Z>(n, 1)}, {});
  constexpr double lambda = 2.25;  // above that of D^-1 A
  for (int mode = 1; mode <= n; ++mode)
    for (std::size_t degree = 1; degree <= 5; ++degree) {
      const double t = mode * std::numbers::pi / (n + 1), eigenvalue = 1 - std::cos(t);
      std::vector<Z> r;
      for (int i = 1; i <= n; ++i) r.push_back(std::sin(i * t));
      const auto Ax = times(A, judge.smoothed(0, {lambda, std::vector<double>(degree, 1)}, r));
      const double angle = std::acos(1 - 2 * eigenvalue / lambda), order = static_cast<double>(degree) + 0.5;
      const double expected = std::sin(order * angle) / std::sin(angle / 2) / (2 * order);
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(std::abs(r[i] - Ax[i] - expected * r[i]), 0, 1e-13);
    }
}

/// A V cycle of equal smoothers is Hermitian and positive definite, and helps: conjugate gradients need few iterations.
TEST(MultigridJudge, has_a_cycle_that_suits_conjugate_gradients) {
  Context ctx = Context::host();
  for (Problem problem : {grid(), bar(ctx)}) {
    turn<Z>(problem);
    const MultigridJudge judge(problem.A, problem.candidates, problem.steps);
    ASSERT_EQ(judge.levels(), 3);
    const std::vector<JudgeSmoother> smoothers(2, {problem.candidates.size() == 1 ? 2.0 : 4.0, {1, 1}});
    const auto u = random_vector<Z>(1, problem.A.rows), v = random_vector<Z>(2, problem.A.rows);
    const auto Mu = judge.cycle(smoothers, u), Mv = judge.cycle(smoothers, v);
    const double size = std::sqrt(std::abs(inner(Mu, Mu) * inner(v, v)));
    EXPECT_LE(std::abs(inner(u, Mv) - inner(Mu, v)), 1e-12 * size);
    EXPECT_GT(inner(u, Mu).real(), 0);
    EXPECT_GT(inner(v, Mv).real(), 0);

    std::vector<Z> x(u.size()), r = u, p;
    Z rz = 0;
    int iterations = 0;
    for (; std::abs(inner(r, r)) > 1e-16 * std::abs(inner(u, u)) && iterations < 100; ++iterations) {
      const auto z = judge.cycle(smoothers, r);
      const Z before = std::exchange(rz, inner(r, z));
      if (p.empty()) p.assign(z.size(), 0);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + (iterations == 0 ? 0 : rz / before) * p[i];
      const auto q = times(problem.A, p);
      const Z alpha = rz / inner(p, q);
      for (std::size_t i = 0; i < p.size(); ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    }
    EXPECT_LE(iterations, 20);
    EXPECT_LE(relative_residual(problem.A, x, u), 1.1e-8);
  }
}

TEST(MultigridJudge, of_one_level_solves) {
  const Reference A = reference(random_hpd<Z>(4, 30, 6));
  const auto b = random_vector<Z>(1, 30);
  EXPECT_LE(relative_residual(A, MultigridJudge(A, {b}, {}).cycle({}, b), b), 1e-13);
}

}  // namespace
}  // namespace krill::test
