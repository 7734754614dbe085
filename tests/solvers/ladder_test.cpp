// Solves that go on to other methods where one fails.
#include "solvers/method/ladder.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/method/type_name.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using Ladder = OnBackend;
using LadderInEveryType = OnBackendAndScalar;

/// A first method that fails: few iterations of a weak one; the steps have as few each.
SolveOptions weak(int iterations, double relative = 1e-8) {
  return {.solver = BicgstabOptions{.max_iterations = iterations, .stop = {.relative = relative}},
          .preconditioner = NoPreconditioner{},
          .ordering = NaturalOrdering{},
          .scaling = NoScaling{},
          .matching = NoMatching{},
          .on_failure = OnFailure::ladder};
}

/// Rows in another order, so that the diagonal is empty for the most part.
template <class T>
Csr<T> with_rows_moved(const Csr<T>& A) {
  const std::vector<std::int32_t> from = shuffled(5, A.rows());
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> values;
  for (const std::int32_t i : from) {
    for (auto e = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++e)
      cols.push_back(A.col_indices().host()[e]), values.push_back(A.values().host()[e]);
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return Csr<T>(A.cols(), Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values));
}

struct Climbed {
  SystemReport report;
  double residual;  // by the judge
};
template <class T>
Climbed climbed(Context& ctx, const Csr<T>& A, const SolveOptions& options, const Watch& watch = {}) {
  const auto b = random_vector<T>(3, A.rows());
  Array<T> x(std::vector<T>(static_cast<std::size_t>(A.rows())));
  Climbed c;
  c.report = krill::solve(ctx, AnyMatrix<T>(A.clone()), Array<T>(b), x, options, watch);
  c.residual = relative_residual(reference(A), to_reference(x), to_reference(b));
  return c;
}

std::string story(const SystemReport& report) {
  std::string text;
  for (const Attempt& a : report.attempts)
    text += std::string(type_name(a.method.solver)) + " " + std::string(type_name(a.method.preconditioner)) + ": " +
            std::string(name(a.reason)) + " " + std::to_string(a.true_relative) + " after " +
            std::to_string(a.iterations) + a.refusal + "\n";
  return text;
}

TEST_P(Ladder, is_not_climbed_where_the_first_method_converges_or_nobody_wants_it) {
  Context ctx = context();
  SolveOptions options = weak(1000);
  const auto converged = climbed(ctx, poisson2d<double>(20), options);
  EXPECT_EQ(converged.report.result.reason, Reason::converged);
  EXPECT_EQ(converged.report.attempts.size(), 1U);
  for (const OnFailure none : {OnFailure::stop, OnFailure::automatic}) {
    options = weak(2);
    options.on_failure = none;
    const auto failed = climbed(ctx, poisson2d<double>(20), options);
    EXPECT_EQ(failed.report.result.reason, Reason::max_iterations);
    EXPECT_TRUE(failed.report.attempts.empty());
  }
}

/// With ever fewer iterations a later step is the first that is strong enough.
TEST_P(Ladder, goes_up_step_by_step) {
  Context ctx = context();
  struct Case {
    Csr<double> A;
    std::vector<std::string> steps;  // in their order, as far as they may come
  };
  const std::vector<std::string> general{"none", "ilu0", "ilut", "ilut", "ilut", "none"};
  std::vector<Case> cases;
  cases.push_back({poisson2d<double>(40), {"none", "ict", "ict", "ilu0", "ilut", "ilut", "ilut", "none"}});
  cases.push_back({std::get<Csr<double>>(generate<double>(ConvectionDiffusion2dOptions{.nx = 40})), general});
  cases.push_back({with_rows_moved(random_dominant<double>(7, 400, 6)), general});
  cases.push_back({std::get<Csr<double>>(generate<double>(Stokes2dOptions{.nx = 12})),
                   {"none", "schur", "ilu0", "ilut", "ilut", "ilut", "none"}});
  for (const Case& c : cases) {
    std::size_t highest = 0;
    std::vector<std::size_t> reached;
    for (const int iterations : {40, 12, 6, 3, 1}) {
      const auto r = climbed(ctx, c.A, weak(iterations));
      const auto& attempts = r.report.attempts;
      ASSERT_EQ(r.report.result.reason, Reason::converged) << iterations << "\n" << story(r.report);
      EXPECT_LE(r.residual, 1e-8 * (1 + 1e-6));
      ASSERT_LE(attempts.size(), c.steps.size());
      for (std::size_t k = 0; k < attempts.size(); ++k) {
        EXPECT_EQ(type_name(attempts[k].method.preconditioner), c.steps[k]) << k;
        EXPECT_EQ(attempts[k].reason == Reason::converged, k + 1 == attempts.size()) << story(r.report);
        EXPECT_FALSE(attempts[k].why.empty());
      }
      EXPECT_GE(attempts.size(), highest) << "fewer iterations need a higher step\n" << story(r.report);
      highest = std::max(highest, attempts.size());
      reached.push_back(highest);
    }
    EXPECT_EQ(highest, c.steps.size()) << "one iteration is enough for nothing but a factorization";
    EXPECT_GE(std::ranges::unique(reached).begin() - reached.begin(), 3) << "steps between are reached, too";
  }
}

/// The last word is a direct solve, in every type, whatever the first method was.
TEST_P(LadderInEveryType, ends_with_a_direct_solve) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double relative = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-10;
    const auto r = climbed(ctx, with_rows_moved(random_dominant<T>(7, 300, 6)), weak(1, relative));
    EXPECT_EQ(r.report.result.reason, Reason::converged) << story(r.report);
    EXPECT_TRUE(std::holds_alternative<DirectOptions>(r.report.options.solver));
    EXPECT_LE(r.residual, relative * 1.01);
    const bool single = sizeof(real_t<T>) == 4;
    EXPECT_EQ(std::ranges::count(r.report.attempts, true, &Attempt::in_double), single ? 1 : 0);
  });
}

/// x is computed in double, rounded, and judged as it is then: where rounding alone is too much, nothing has converged.
TEST_P(Ladder, judges_what_it_computes_in_double_after_rounding) {
  Context ctx = context();
  constexpr std::int32_t n = 400;  // a ring that is graded over seven decades: condition beyond 1e7
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<float> values;
  for (std::int32_t i = 0; i < n; ++i) {
    const double size = std::pow(10.0, -7.0 * i / n);
    const std::int32_t neighbor = (i + 37) % n;
    for (const std::int32_t j : {std::min(i, neighbor), std::max(i, neighbor)})
      cols.push_back(j), values.push_back(static_cast<float>(j == i ? size : 0.999 * size));
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  const Csr<float> A(n, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<float>(values));
  const auto r = climbed(ctx, A, weak(2000, 2e-6));
  EXPECT_EQ(r.report.result.reason, Reason::limit_of_accuracy) << story(r.report);
  const auto wide = std::ranges::find(r.report.attempts, true, &Attempt::in_double);
  ASSERT_NE(wide, r.report.attempts.end());
  EXPECT_EQ(wide->reason, Reason::limit_of_accuracy);
  EXPECT_GT(wide->true_relative, 1e-4);
  // in single precision products are rounded by about as much as is left of the residual
  EXPECT_LE(r.residual, 2 * r.report.result.true_relative);
}

TEST_P(Ladder, counts_a_refused_method_as_an_attempt) {
  Context ctx = context();
  SolveOptions options = weak(500);
  options.preconditioner = JacobiOptions{};  // which divides by the diagonal
  const auto r = climbed(ctx, with_rows_moved(random_dominant<double>(7, 400, 6)), options);
  ASSERT_GE(r.report.attempts.size(), 2U);
  EXPECT_NE(r.report.attempts[0].refusal.find("is 0 or missing"), std::string::npos);
  EXPECT_EQ(r.report.result.reason, Reason::converged) << story(r.report);
}

TEST_P(Ladder, leaves_out_what_is_for_definite_matrices_where_this_is_none) {
  Context ctx = context();
  Csr<double> A = poisson2d<double>(15);  // shifted, so that it has eigenvalues of both signs and a positive diagonal
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto e = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++e)
      if (A.col_indices().host()[e] == i) A.values().edit()[e] = 3.3;
  SolveOptions options = weak(300);
  options.solver = PcgOptions{.max_iterations = 300};
  const auto r = climbed(ctx, A, options);
  EXPECT_EQ(r.report.attempts[0].reason, Reason::not_positive_definite) << story(r.report);
  EXPECT_NE(type_name(r.report.attempts[1].method.preconditioner), "ict");
  EXPECT_EQ(r.report.result.reason, Reason::converged);
}

TEST_P(Ladder, has_one_time_limit_and_ends_with_an_interruption) {
  Context ctx = context();
  SolveOptions options = weak(2);
  std::get<BicgstabOptions>(options.solver).stop.time_limit = 1e-7;
  const auto late = climbed(ctx, poisson2d<double>(40), options);
  EXPECT_EQ(late.report.attempts.size(), 1U);
  EXPECT_NE(late.report.result.reason, Reason::converged);
  // A loop on a device asks but now and then, so this solve is a long one.
  const auto interrupted =
      climbed(ctx, poisson2d<double>(300), weak(100'000, 1e-12), [](const Sight&) { return false; });
  EXPECT_EQ(interrupted.report.attempts.size(), 1U);
  EXPECT_EQ(interrupted.report.result.reason, Reason::interrupted);
}

/// Nothing solves it; the report is that of the best attempt, and the condition number proves it.
TEST_P(Ladder, proves_that_a_singular_matrix_is_one) {
  Context ctx = context();
  const Csr<double> A(3, Array<std::int32_t>{0, 3, 6, 9}, Array<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2},
                      Array<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto r = climbed(ctx, A, weak(50));
  EXPECT_NE(r.report.result.reason, Reason::converged);
  ASSERT_GE(r.report.attempts.size(), 3U);
  EXPECT_GT(r.report.attempts.back().condition, 1e15) << story(r.report);
  for (const Attempt& a : r.report.attempts) {
    if (a.refusal.empty()) {
      EXPECT_GE(a.true_relative, r.report.result.true_relative * (1 - 1e-12));
    }
  }
}

TEST_P(Ladder, makes_room_for_entries_of_any_size) {
  Context ctx = context();
  Csr<double> A = random_dominant<double>(9, 200, 5);
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto e = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++e)
      A.values().edit()[e] *= i % 2 == 0 ? 1e300 : 1e-300;
  std::vector<double> b = random_vector<double>(3, 200);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] *= i % 2 == 0 ? 1e300 : 1e-300;
  Array<double> x(std::vector<double>(200));
  const SystemReport report = krill::solve(ctx, AnyMatrix<double>(A.clone()), Array<double>(b), x, weak(30));
  EXPECT_EQ(report.result.reason, Reason::converged) << story(report);
}

INSTANTIATE_TEST_SUITE_P(, Ladder, backends, param_name);
INSTANTIATE_TEST_SUITE_P(, LadderInEveryType, backends_and_scalars, param_name);

TEST(LadderSteps, are_none_for_a_batch_and_leave_out_what_failed) {
  MatrixProperties m;
  m.rows = m.cols = 100, m.nnz = 500, m.hermitian_error = 0.5;
  SolveOptions batch = weak(10);
  batch.solver = BandedOptions{.systems = 4};
  EXPECT_TRUE(ladder(batch, m, false).empty());
  SolveOptions direct = weak(10);
  direct.solver = DirectOptions{};
  for (const LadderStep& step : ladder(direct, m, false))
    EXPECT_FALSE(std::holds_alternative<DirectOptions>(step.method.solver));
  EXPECT_EQ(ladder(weak(10), m, true).size(), ladder(weak(10), m, false).size() + 1);
}

}  // namespace
}  // namespace krill::test
