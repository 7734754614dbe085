#include <limits>

#include "solvers/direct.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using DirectSystems = OnBackendAndScalar;
using DirectSolves = OnBackend;

template <class T>
const Fact* fact_of(const T& report, const std::string& name) {
  const auto at = std::ranges::find(report.setup.facts, name, &Fact::name);
  return at == report.setup.facts.end() ? nullptr : &*at;
}

template <class T>
Csr<T> two_by_two(T a, T b, T c, T d) {
  return Csr<T>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<T>{a, b, c, d});
}

TEST_P(DirectSystems, solves_in_few_refinements) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    DirectOptions options;
    options.stop.relative = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-13;
    for (const Csr<T>& A : {random_hpd<T>(1, 500, 6), random_dominant<T>(2, 500, 6), poisson2d<T>(30)}) {
      const auto b = random_vector<T>(3, A.rows());
      const Solved<T> s = solve(ctx, A, b, options);
      EXPECT_EQ(s.report.reason, Reason::converged) << s.report.true_relative;
      EXPECT_LE(s.report.iterations, 3);
      EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), 1.01 * options.stop.relative);
      EXPECT_GT(s.report.setup.bytes, bytes(AnyMatrix<T>(A.clone())) / 2);
      ASSERT_TRUE(fact_of(s.report, factorization_fact));
    }
  });
}

TEST_P(DirectSystems, goes_on_to_lu_where_ldlt_finds_both_signs) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = two_by_two<T>(T(1e-3F), 1, 1, T(1e-3F));
    for (const DirectMethod method : {DirectMethod::automatic, DirectMethod::ldlt, DirectMethod::lu}) {
      const Solved<T> s = solve(ctx, A, {T(1), T(2)}, DirectOptions{.stop = {.relative = 1e-5}, .method = method});
      EXPECT_EQ(s.report.reason, Reason::converged);
      EXPECT_EQ(std::get<std::string>(fact_of(s.report, factorization_fact)->value),
                method == DirectMethod::ldlt ? "ldlt" : "lu");
      EXPECT_EQ(s.report.setup.notes.size(), method == DirectMethod::automatic ? 1U : 0U);
    }
  });
}

TEST_P(DirectSystems, reports_the_column_of_a_zero_pivot) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const DirectMethod method : {DirectMethod::automatic, DirectMethod::ldlt, DirectMethod::lu}) {
      const Solved<T> s = solve(ctx, two_by_two<T>(1, 1, 1, 1), {T(1), T(2)}, DirectOptions{.method = method});
      EXPECT_EQ(s.report.reason, Reason::zero_pivot);
      ASSERT_TRUE(s.report.pivot_row.has_value());
      EXPECT_LE(*s.report.pivot_row, 1);
      EXPECT_TRUE(s.report.kept_initial_guess);
      EXPECT_EQ(s.x, std::vector<T>(2));
    }
    // 0 = 0 needs no pivot
    EXPECT_EQ(solve(ctx, two_by_two<T>(1, 1, 1, 1), std::vector<T>(2), DirectOptions{}).report.reason,
              Reason::converged);
  });
}

/// A matrix that is singular but for its last bit: no digit is right, and the condition number proves it.
TEST_P(DirectSolves, tells_the_condition_where_it_fails) {
  Context ctx = context();
  const double h = std::ldexp(1.0, -52);
  const Csr<double> A(3, Array<std::int32_t>{0, 3, 6, 9}, Array<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2},
                      Array<double>{1, 2, 3, 4, 5, 6, 7, 8, 9 + 8 * h});
  const Solved<double> s = solve(ctx, A, {1.0, -2.0, 1.5}, DirectOptions{.stop = {.relative = 0, .stagnation = 3}});
  EXPECT_NE(s.report.reason, Reason::converged);
  ASSERT_TRUE(fact_of(s.report, condition_fact));
  EXPECT_GT(std::get<double>(fact_of(s.report, condition_fact)->value), 1e15);
}

TEST_P(DirectSolves, keeps_its_factors_for_the_next_right_hand_side_and_takes_any_format) {
  Context ctx = context();
  const AnyMatrix<double> csr(poisson2d<double>(20)),
      A = with_csr(ctx, csr, [&](const auto&a) { return convert_format(ctx, a, Format::sell); });
  const MatrixOperator<double> op(A);
  const Identity<double> none;
  const auto solver = make_solver<double>(DirectOptions{}, op, none);
  double factorized = 0;
  for (const std::uint64_t seed : {21, 22, 23}) {
    const Array<double> b(random_vector<double>(seed, 400));
    Array<double> x(std::vector<double>(400));
    const SolveReport report = solver->solve(ctx, b, x);
    EXPECT_EQ(report.reason, Reason::converged);
    if (factorized > 0) {
      EXPECT_EQ(report.setup.numeric_ms, factorized) << "nothing is factorized again";
    }
    factorized = report.setup.numeric_ms;
  }
  EXPECT_GT(solver->bytes(), 400 * sizeof(double));
}

TEST_P(DirectSolves, ends_where_its_watcher_or_the_time_wants_it) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(40);
  const auto b = random_vector<double>(5, A.rows());
  int asked = 0;
  const Solved<double> interrupted = solve(ctx, A, b, DirectOptions{}, NoPreconditioner{}, {},
                                           [&](const Sight&) { return ++asked < 2; });  // after the ordering
  EXPECT_EQ(interrupted.report.reason, Reason::interrupted);
  EXPECT_TRUE(interrupted.report.kept_initial_guess);
  EXPECT_EQ(interrupted.report.iterations, 0);
  const Solved<double> late = solve(ctx, A, b, DirectOptions{.stop = {.time_limit = 1e-6}});
  EXPECT_EQ(late.report.reason, Reason::time_limit);
}

TEST_P(DirectSolves, ends_as_not_finite_where_a_number_is_not) {
  Context ctx = context();
  std::vector<double> b(64, 1.0);
  Csr<double> A = poisson2d<double>(8);
  for (const DirectMethod method : {DirectMethod::automatic, DirectMethod::lu}) {
    b[13] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve(ctx, A, b, DirectOptions{.method = method}).report.reason, Reason::not_finite);
    b[13] = 1;
    Csr<double> spoilt = A.clone();
    spoilt.values().edit()[50] = std::numeric_limits<double>::infinity();
    const Solved<double> s = solve(ctx, spoilt, b, DirectOptions{.method = method});
    EXPECT_EQ(s.report.reason, Reason::not_finite) << name(s.report.reason);
    EXPECT_EQ(s.x, std::vector<double>(64));
  }
}

TEST_P(DirectSolves, wants_a_stored_matrix) {
  struct Doubling final : Operator<double> {
    std::int64_t rows() const override { return 3; }
    void apply(Context&, Op, const Array<double>&, Array<double>&) const override {}
  } op;
  const Identity<double> none;
  EXPECT_EQ(complaint<InvalidArgument>([&] { make_solver<double>(DirectOptions{}, op, none); }),
            "solver direct: the operator has no stored matrix; use another solver");
}

TEST_P(DirectSolves, takes_part_in_a_whole_solve) {
  Context ctx = context();
  const AnyMatrix<double> A = generate<double>(ConvectionDiffusion2dOptions{.nx = 30});
  const Array<double> b(random_vector<double>(6, rows(A)));
  Array<double> x(std::vector<double>(static_cast<std::size_t>(rows(A))));
  const SystemReport report = krill::solve(ctx, A, b, x, {.solver = DirectOptions{}});
  EXPECT_EQ(report.result.reason, Reason::converged);
  EXPECT_TRUE(std::holds_alternative<NaturalOrdering>(report.options.ordering));
  EXPECT_TRUE(std::holds_alternative<NoScaling>(report.options.scaling));
  EXPECT_GT(report.preconditioner.bytes, 0U) << "of the factors";
  EXPECT_GE(report.timings.preconditioner_setup, report.preconditioner.numeric_ms) << "factors are set up once";
  EXPECT_GE(report.timings.solve, 0);
  EXPECT_EQ(report.notes.size(), ctx.on_cuda() ? 1U : 0U) << "that the device takes no part";
}

INSTANTIATE_TEST_SUITE_P(, DirectSystems, backends_and_scalars, param_name);
INSTANTIATE_TEST_SUITE_P(, DirectSolves, backends, param_name);

}  // namespace
}  // namespace krill::test
