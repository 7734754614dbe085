// The door of a whole solve, as a user of the library takes it.
#include <atomic>
#include <limits>

#include "solvers/pcg.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/io/generate.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using SystemSolve = OnBackend;
using SystemSolveTypes = OnBackendAndScalar;

template <class T>
Array<T> zeros(std::int64_t n) {
  return Array<T>(std::vector<T>(static_cast<std::size_t>(n)));
}

AnyMatrix<double> square_grid(int nx) { return generate<double>(Poisson2dOptions{.nx = nx}); }

/// ||b - A x|| / ||b|| by the judge.
template <class T>
double residual_of(const AnyMatrix<T>& A, const Array<T>& x, const std::vector<T>& b) {
  return relative_residual(reference(std::get<Csr<T>>(A)), to_reference(x), to_reference(b));
}

/// What rounding in a product of short rows may add to a relative residual, for systems of a condition below 10^4.
template <class T>
double rounding() {
  return 1e5 * epsilon<T>();
}

bool is_named(const SolveOptions& o) {
  return !std::holds_alternative<AutoSolver>(o.solver) &&
         !std::holds_alternative<AutoPreconditioner>(o.preconditioner) &&
         !std::holds_alternative<AutoOrdering>(o.ordering) && !std::holds_alternative<AutoScaling>(o.scaling) &&
         !std::holds_alternative<AutoMatching>(o.matching);
}

TEST_P(SystemSolve, without_options_chooses_all_and_says_why) {
  Context ctx = context();
  for (const bool symmetric : {true, false}) {
    const AnyMatrix<double> A = symmetric ? square_grid(40) : generate<double>(ConvectionDiffusion2dOptions{.nx = 40});
    const auto b = random_vector<double>(1, rows(A));
    Array<double> x = zeros<double>(rows(A));
    const SystemReport report = krill::solve(ctx, A, Array<double>(b), x);
    EXPECT_EQ(report.result.reason, Reason::converged);
    EXPECT_LE(residual_of(A, x, b), 1e-8 * (1 + 1e-6));
    EXPECT_TRUE(is_named(report.options));
    EXPECT_EQ(std::holds_alternative<PcgOptions>(report.options.solver), symmetric);
    ASSERT_EQ(report.choices.size(), 5u);
    for (const ChoiceReason& choice : report.choices) EXPECT_FALSE(choice.why.empty()) << choice.key;
    EXPECT_EQ(report.matrix.rows, rows(A));
    EXPECT_GT(report.memory_bytes, bytes(A));
    EXPECT_LE(report.backward_error, 1e-8);
    EXPECT_GE(report.timings.total, report.timings.preconditioner_setup + report.timings.solve);
  }
}

/// Scaled and reordered, and not.
TEST_P(SystemSolve, takes_several_right_hand_sides_as_it_takes_one) {
  Context ctx = context();
  const AnyMatrix<double> A = square_grid(20);
  const std::int64_t n = rows(A);
  const auto size = static_cast<std::size_t>(n);
  const auto all = random_vector<double>(3, 3 * n);
  for (const bool transforms : {false, true}) {
    SolveOptions options{.solver = PcgOptions{},
                         .preconditioner = Ic0Options{},
                         .ordering = NaturalOrdering{},
                         .scaling = NoScaling{},
                         .matching = NoMatching{},
                         .format = Format::csr};
    if (transforms) options.ordering = RcmOrdering{}, options.scaling = DiagonalScaling{};
    Array<double> x = zeros<double>(3 * n);
    const SystemReport report = krill::solve(ctx, A, Array<double>(all), x, options);
    ASSERT_EQ(report.columns.size(), 3U);
    EXPECT_EQ(report.result.reason, Reason::converged);
    int iterations = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const std::vector<double> b(all.begin() + static_cast<std::ptrdiff_t>(j * size),
                                  all.begin() + static_cast<std::ptrdiff_t>((j + 1) * size));
      Array<double> alone = zeros<double>(n);
      const SystemReport one = krill::solve(ctx, A, Array<double>(b), alone, options);
      const auto part = x.host().subspan(j * size, size);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), alone.host().begin())) << j;
      EXPECT_EQ(report.columns[j].history, one.result.history);
      EXPECT_EQ(report.result.systems[j].true_relative, one.result.true_relative);
      iterations += one.result.iterations;
    }
    EXPECT_EQ(report.result.iterations, iterations);
  }
}

TEST_P(SystemSolve, loses_no_column_to_one_that_is_not_finite) {
  Context ctx = context();
  const AnyMatrix<double> A = square_grid(20);
  const auto n = static_cast<std::size_t>(rows(A));
  auto all = random_vector<double>(3, 3 * rows(A));
  all[n + 5] = std::numeric_limits<double>::quiet_NaN();
  Array<double> x = zeros<double>(std::ssize(all));
  const SystemReport report = krill::solve(ctx, A, Array<double>(all), x);
  ASSERT_EQ(report.columns.size(), 3U);
  EXPECT_EQ(report.columns[0].reason, Reason::converged);
  EXPECT_EQ(report.columns[1].reason, Reason::not_finite);
  EXPECT_EQ(report.columns[2].reason, Reason::converged);
  EXPECT_EQ(report.result.worst_system, 1U);
  for (std::size_t i = n; i < 2 * n; ++i) EXPECT_EQ(x.host()[i], 0) << i;
}

TEST_P(SystemSolve, keeps_the_columns_that_were_solved_before_a_stop) {
  Context ctx = context();
  const AnyMatrix<double> A = square_grid(20);
  const std::int64_t n = rows(A);
  Array<double> x = zeros<double>(3 * n);
  std::atomic<int> begun = 0, last = std::numeric_limits<int>::max();
  const SystemReport report =
      krill::solve(ctx, A, Array<double>(random_vector<double>(3, 3 * n)), x, {}, [&](const Sight& sight) {
        if (sight.iteration <= last) ++begun;  // another column
        last = sight.iteration;
        return begun < 2;
      });
  ASSERT_EQ(report.columns.size(), 3U);
  EXPECT_EQ(report.columns[0].reason, Reason::converged);
  if (GetParam() == Backend::cuda) return;  // there the host looks on now and then, and may come too late
  EXPECT_EQ(report.columns[1].reason, Reason::interrupted);
  EXPECT_EQ(report.columns[2].reason, Reason::interrupted);
  EXPECT_EQ(report.result.worst_system, 1U);
  EXPECT_TRUE(std::isnan(report.columns[2].true_relative));
  EXPECT_EQ(report.columns[2].iterations, 0);
  const auto untouched = x.host().subspan(static_cast<std::size_t>(2 * n));
  EXPECT_TRUE(std::ranges::all_of(untouched, [](double entry) { return entry == 0; }));
}

TEST_P(SystemSolve, gives_the_bits_of_its_parts) {
  Context ctx = context();
  const AnyMatrix<double> A = square_grid(30);
  const Array<double> b(random_vector<double>(2, rows(A)));
  Array<double> x = zeros<double>(rows(A)), by_hand = zeros<double>(rows(A));
  const SystemReport report = krill::solve(ctx, A, b, x,
                                           {.solver = PcgOptions{},
                                            .preconditioner = Ic0Options{},
                                            .ordering = NaturalOrdering{},
                                            .scaling = NoScaling{},
                                            .matching = NoMatching{},
                                            .format = Format::csr});
  const MatrixOperator<double> products(A);
  const auto M = make_preconditioner<double>(ctx, Ic0Options{}, A, &products);
  const SolveReport expected = Pcg<double>(products, *M, {}).solve(ctx, b, by_hand);
  EXPECT_EQ(contents(x), contents(by_hand));
  EXPECT_EQ(report.result.history, expected.history);
  EXPECT_TRUE(report.choices.empty());
}

TEST_P(SystemSolveTypes, solves_the_given_system_by_way_of_another) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(ResistorNetworkOptions{.nx = 20, .decades = 1});
    const auto b = random_vector<T>(3, rows(A));
    const double target = sizeof(real_t<T>) == 4 ? 1e-3 : 1e-9;
    PcgOptions pcg;
    pcg.stop.relative = target;
    for (const ScalingOptions& scaling : {ScalingOptions(NoScaling{}), ScalingOptions(RuizScaling{})})
      for (const OrderingOptions& ordering : {OrderingOptions(RcmOrdering{}), OrderingOptions(ColorOrdering{})})
        for (const Format format : {Format::csr, Format::sell}) {
          Array<T> x = zeros<T>(rows(A));
          const SystemReport report = krill::solve(ctx, A, Array<T>(b), x,
                                                   {.solver = pcg,
                                                    .preconditioner = JacobiOptions{},
                                                    .ordering = ordering,
                                                    .scaling = scaling,
                                                    .format = format});
          EXPECT_EQ(report.result.reason, Reason::converged);
          EXPECT_LE(residual_of(A, x, b), target + rounding<T>());
          EXPECT_GT(report.transformation.bandwidth_before, 0);
        }
  });
}

TEST_P(SystemSolveTypes, judges_the_given_system_by_its_backward_error) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(ResistorNetworkOptions{.nx = 20, .decades = 4});
    const auto b = random_vector<T>(3, rows(A));
    const double target = sizeof(real_t<T>) == 4 ? 1e-6 : 1e-13;
    GmresOptions gmres;
    gmres.stop.relative = target, gmres.stop.baseline = Baseline::backward_error;
    for (const MatchingOptions& matching : {MatchingOptions(NoMatching{}), MatchingOptions(GreatestProduct{})})
      for (const ScalingOptions& scaling : {ScalingOptions(NoScaling{}), ScalingOptions(RuizScaling{})})
        for (const OrderingOptions& ordering : {OrderingOptions(NaturalOrdering{}), OrderingOptions(RcmOrdering{})}) {
          Array<T> x = zeros<T>(rows(A));
          const SystemReport report = krill::solve(ctx, A, Array<T>(b), x,
                                                   {.solver = gmres,
                                                    .preconditioner = Ilu0Options{},
                                                    .ordering = ordering,
                                                    .scaling = scaling,
                                                    .matching = matching});
          EXPECT_EQ(report.result.reason, Reason::converged) << name(report.result.reason);
          EXPECT_LE(report.backward_error, target * (1 + 1e-5));
          EXPECT_NEAR(report.result.true_relative, report.backward_error, 1e-5 * report.backward_error);
          EXPECT_GT(residual_of(A, x, b), 2 * target) << "the right-hand side alone asks for more";
        }
  });
}

TEST_P(SystemSolve, takes_a_matrix_in_any_format) {
  Context ctx = context();
  const AnyMatrix<double> A = square_grid(20);
  const Array<double> b(random_vector<double>(4, rows(A)));
  const SolveOptions options{.solver = PcgOptions{}, .preconditioner = JacobiOptions{}, .format = Format::csr};
  Array<double> expected = zeros<double>(rows(A));
  krill::solve(ctx, A, b, expected, options);
  for (const Format format : {Format::coo, Format::ell, Format::dia}) {
    const AnyMatrix<double> other = convert_format(ctx, std::get<Csr<double>>(A), format);
    Array<double> x = zeros<double>(rows(A));
    EXPECT_EQ(krill::solve(ctx, other, b, x, options).result.reason, Reason::converged);
    EXPECT_EQ(contents(x), contents(expected));
  }
}

TEST_P(SystemSolve, starts_from_the_guess_and_hears_the_watch) {
  Context ctx = context();
  const AnyMatrix<double> A = square_grid(20);
  const Array<double> b(random_vector<double>(5, rows(A)));
  Array<double> x = zeros<double>(rows(A));
  ASSERT_EQ(krill::solve(ctx, A, b, x).result.reason, Reason::converged);
  const auto solution = contents(x);
  EXPECT_EQ(krill::solve(ctx, A, b, x).result.iterations, 0);
  EXPECT_EQ(contents(x), solution);
  Array<double> other = zeros<double>(rows(A));
  PcgOptions endless{.max_iterations = 10'000'000};
  endless.stop.relative = 0, endless.stop.stagnation = 0;
  const SystemReport report = krill::solve(ctx, A, b, other, {.solver = endless}, [](const Sight&) { return false; });
  EXPECT_EQ(report.result.reason, Reason::interrupted);
}

/// The scaled system is solved, and the way back from it leads out of the range of double.
TEST_P(SystemSolve, a_scaled_solution_that_overflows_or_vanishes_is_not_representable) {
  Context ctx = context();
  for (const auto& [a, b] : {std::pair{-510, 520}, std::pair{510, -570}}) {
    Csr<double> scaled = std::get<Csr<double>>(square_grid(8)).clone();
    for (double& value : scaled.values().edit()) value = std::ldexp(value, a);
    const AnyMatrix<double> A(std::move(scaled));
    Array<double> x = zeros<double>(64);
    const SystemReport report = krill::solve(ctx, A, Array<double>(std::vector<double>(64, std::ldexp(1.0, b))), x,
                                             {.solver = PcgOptions{}, .scaling = DiagonalScaling{}});
    EXPECT_EQ(report.result.reason, Reason::not_representable) << name(report.result.reason);
    EXPECT_EQ(contents(x), std::vector<double>(64));
  }
}

Csr<double> dense2(double a, double b, double c, double d) {
  return {2, Array<std::int32_t>(std::vector<std::int32_t>{0, 2, 4}),
          Array<std::int32_t>(std::vector<std::int32_t>{0, 1, 0, 1}), Array<double>(std::vector<double>{a, b, c, d})};
}

TEST_P(SystemSolve, refuses_what_it_cannot_solve) {
  Context ctx = context();
  const Array<double> b(std::vector<double>{1, 2});
  Array<double> x(std::vector<double>{0, 0}), shorter(std::vector<double>{0});
  const AnyMatrix<double> skewed(dense2(4, 1, 2, 4));
  EXPECT_THROW(krill::solve(ctx, skewed, b, shorter), ShapeMismatch);
  const SolveOptions pcg{.solver = PcgOptions{}};
  EXPECT_NE(complaint<InvalidArgument>([&] { krill::solve(ctx, skewed, b, x, pcg); }).find("a(0, 1) = 1, a(1, 0) = 2"),
            std::string::npos);
  EXPECT_EQ(krill::solve(ctx, skewed, b, x).result.reason, Reason::converged);
  const AnyMatrix<double> broken(dense2(4, 1, std::numeric_limits<double>::quiet_NaN(), 4));
  EXPECT_NE(complaint<InvalidArgument>([&] { krill::solve(ctx, broken, b, x); }).find("A: a(1, 0) = nan"),
            std::string::npos);
}

TEST_P(SystemSolve, goes_on_to_something_weaker_where_the_matrix_refuses) {
  Context ctx = context();
  // The second pivot of ilu0 is 1 - 1 = 0, and so is the matrix that isai's second row would divide by.
  const AnyMatrix<double> A(Csr<double>(3, Array<std::int32_t>(std::vector<std::int32_t>{0, 2, 5, 7}),
                                        Array<std::int32_t>(std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2}),
                                        Array<double>(std::vector<double>{1, 1, 1, 1, 2, 1, 1})));
  const Array<double> b(std::vector<double>{1, 1, 1});
  Array<double> x = zeros<double>(3);
  const SystemReport report = krill::solve(ctx, A, b, x, {.solver = GmresOptions{}});
  EXPECT_EQ(report.result.reason, Reason::converged);
  EXPECT_TRUE(std::holds_alternative<JacobiOptions>(report.options.preconditioner));
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes.front().find("auto went on to jacobi"), std::string::npos) << report.notes.front();
  EXPECT_THROW(krill::solve(ctx, A, b, x, {.solver = GmresOptions{}, .preconditioner = Ilu0Options{}}),
               InvalidArgument);
  const SystemReport climbed = krill::solve(ctx, A, b, x, {.preconditioner = Ilu0Options{}});
  EXPECT_EQ(climbed.result.reason, Reason::converged);
  ASSERT_GE(climbed.attempts.size(), 2u);
  EXPECT_NE(climbed.attempts.front().refusal, "");
}

/// The dominant matrix with its rows in another order: most of its diagonal is missing.
template <class T>
Csr<T> without_diagonal(std::uint64_t seed, std::int32_t n) {
  Context host = Context::host();
  const Csr<T> A = random_dominant<T>(seed, n, 6);
  return Reordered<T, std::int32_t>::of_rows(host, A, Ordering(Array<std::int32_t>(shuffled(seed + 1, n)))).release();
}

/// Whatever is done to the system, the report and x are those of the one that was given.
TEST_P(SystemSolveTypes, matches_rows_to_columns_and_reports_the_given_system) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double target = std::max(1e-8, 4 * rounding<T>());
    const AnyMatrix<T> A = without_diagonal<T>(31, 500);
    const auto b = random_vector<T>(32, 500);
    BicgstabOptions solver;
    solver.stop.relative = target;
    for (const ScalingOptions& scaling : {ScalingOptions(NoScaling{}), ScalingOptions(RuizScaling{})})
      for (const OrderingOptions& ordering : {OrderingOptions(NaturalOrdering{}), OrderingOptions(RcmOrdering{})}) {
        Array<T> x = zeros<T>(500);
        const SystemReport report = krill::solve(ctx, A, Array<T>(b), x,
                                                 {.solver = solver,
                                                  .preconditioner = Ilu0Options{},
                                                  .ordering = ordering,
                                                  .scaling = scaling,
                                                  .matching = GreatestProduct{}});
        EXPECT_EQ(report.result.reason, Reason::converged);
        EXPECT_GT(report.transformation.moved_rows, 400);
        EXPECT_GT(report.transformation.matching.greatest, 0);
        EXPECT_EQ(report.transformation.scaling.greatest > 0, std::holds_alternative<RuizScaling>(scaling));
        const double judged = residual_of(A, x, b);
        EXPECT_LE(judged, target * (1 + 1e-6));
        EXPECT_NEAR(report.result.true_relative, judged, rounding<T>());
        Array<T> again(contents(x));  // a solution as the guess is one at once, in the given order
        EXPECT_EQ(krill::solve(ctx, A, Array<T>(b), again,
                               {.solver = solver,
                                .preconditioner = Ilu0Options{},
                                .ordering = ordering,
                                .scaling = scaling,
                                .matching = GreatestProduct{}})
                      .result.iterations,
                  0);
      }
  });
}

TEST_P(SystemSolve, matches_by_itself_where_the_diagonal_has_zeros) {
  Context ctx = context();
  const AnyMatrix<double> A = without_diagonal<double>(41, 4000);
  const auto b = random_vector<double>(42, 4000);
  Array<double> x = zeros<double>(4000);
  const SystemReport report = krill::solve(ctx, A, Array<double>(b), x);
  EXPECT_TRUE(std::holds_alternative<GreatestProduct>(report.options.matching));
  EXPECT_EQ(report.result.reason, Reason::converged);
  EXPECT_LT(report.result.iterations, 100);
  EXPECT_LE(residual_of(A, x, b), 1e-8 * (1 + 1e-6));
}

TEST_P(SystemSolve, solves_a_negative_definite_matrix_by_pcg) {
  Context ctx = context();
  Csr<double> minus = std::get<Csr<double>>(square_grid(30));
  for (double& value : minus.values().edit()) value = -value;
  const AnyMatrix<double> A(std::move(minus));
  const auto b = random_vector<double>(43, rows(A));
  Array<double> x = zeros<double>(rows(A));
  const SystemReport report = krill::solve(ctx, A, Array<double>(b), x);
  EXPECT_TRUE(std::holds_alternative<PcgOptions>(report.options.solver));
  EXPECT_TRUE(std::holds_alternative<NegativeScaling>(report.options.scaling));
  EXPECT_EQ(report.result.reason, Reason::converged);
  EXPECT_LE(residual_of(A, x, b), 1e-8 * (1 + 1e-6));
  const SolveOptions by_hand{.solver = PcgOptions{}, .scaling = NoScaling{}};
  EXPECT_NE(complaint<InvalidArgument>([&] {
              krill::solve(ctx, A, Array<double>(b), x, by_hand);
            }).find("use scaling: {type: negative}"),
            std::string::npos);
  const SolveOptions turned{.solver = PcgOptions{}, .scaling = NegativeScaling{}};
  const AnyMatrix<double> positive = square_grid(30);
  EXPECT_THROW(krill::solve(ctx, positive, Array<double>(b), x, turned), InvalidArgument);
}

/// What is known of the matrix and b before the first iteration.
TEST_P(SystemSolve, says_why_a_system_has_no_solution) {
  Context ctx = context();
  const auto about = [&](const Csr<double>& A, std::vector<double> b) {
    Array<double> x = zeros<double>(A.rows());
    const AnyMatrix<double> matrix(A.clone());
    return krill::solve(ctx, matrix, Array<double>(std::move(b)), x).singularity;
  };
  const Csr<double> path(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                         Array<double>{1, -1, -1, 2, -1, -1, 1});  // the Laplacian of a path
  EXPECT_EQ(about(path, {1, 1, 1}).what,
            "the matrix is singular: every row adds up to 0, and so does every A x, but b does not: no x brings the "
            "residual below 1 of ||b||");
  EXPECT_TRUE(about(path, {1, 1, 1}).no_solution);
  EXPECT_EQ(about(path, {1, 0, -1}).what, "the matrix is singular: every row adds up to 0");
  EXPECT_FALSE(about(path, {1, 0, -1}).no_solution);
  const Csr<double> empty(3, Array<std::int32_t>{0, 1, 1, 2}, Array<std::int32_t>{0, 2}, Array<double>{2, 3});
  EXPECT_EQ(about(empty, {1, 4, 1}).what,
            "the matrix is singular whatever its values are, its rank is at most 2 of 3: row 1 has no entries other "
            "than 0 (rows and columns count from 0); b(1) = 4 is not 0, so there is no solution");
  EXPECT_TRUE(about(empty, {1, 4, 1}).no_solution);
  EXPECT_FALSE(about(empty, {1, 0, 1}).no_solution);
  const Csr<double> shared(3, Array<std::int32_t>{0, 1, 2, 5}, Array<std::int32_t>{0, 0, 0, 1, 2},
                           Array<double>{2, 3, 1, 1, 1});
  EXPECT_EQ(about(shared, {1, 1, 1}).what,
            "the matrix is singular whatever its values are, its rank is at most 2 of 3: rows 0 and 1 have entries in "
            "column 0 only (rows and columns count from 0)");
  EXPECT_EQ(about(std::get<Csr<double>>(square_grid(3)), std::vector<double>(9, 1)).what, "");
}

INSTANTIATE_TEST_SUITE_P(, SystemSolve, backends, param_name);
INSTANTIATE_TEST_SUITE_P(, SystemSolveTypes, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
