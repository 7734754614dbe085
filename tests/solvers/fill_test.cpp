// Preconditioners by factorizations with fill.
#include "solvers/precond/preconditioner.hpp"
#include "sparse/order/ordering.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

IlukOptions iluk(int level) {
  IlukOptions options;
  options.level = level;
  return options;
}
IckOptions ick(int level) {
  IckOptions options;
  options.level = level;
  return options;
}

IlutOptions ilut(int row_entries, double drop_tolerance, double pivoting = 0) {
  IlutOptions options;
  options.row_entries = row_entries, options.drop_tolerance = drop_tolerance, options.pivoting = pivoting;
  return options;
}
IctOptions ict(int row_entries, double drop_tolerance, DropCompensation compensation = DropCompensation::none) {
  IctOptions options;
  options.row_entries = row_entries, options.drop_tolerance = drop_tolerance, options.compensation = compensation;
  return options;
}

/// Rows one further up, so that what dominates them stands beside the diagonal, and that is empty for the most part.
template <class T>
Csr<T> with_rows_shifted(Context& ctx, const Csr<T>& A) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>((i + 1) % order.size());
  return Reordered<T, std::int32_t>::of_rows(ctx, A, Ordering(Array<std::int32_t>(order))).release();
}

ParilutOptions parilut(double fill, int cycles = 5, int sweeps = 5) {
  ParilutOptions options;
  options.fill = fill, options.cycles = cycles, options.sweeps = sweeps;
  return options;
}
ParictOptions parict(double fill, int cycles = 5, int sweeps = 5) {
  ParictOptions options;
  options.fill = fill, options.cycles = cycles, options.sweeps = sweeps;
  return options;
}

template <class T>
double max_norm(const std::vector<T>& v) {
  double greatest = 0;
  for (const T& value : v) greatest = std::max(greatest, static_cast<double>(std::abs(value)));
  return greatest;
}

using FillSolves = OnBackendAndScalar;

/// With all levels, or all entries, there is nothing incomplete: L U = A. Of a matrix that is dominant by rows or
/// Hermitian positive definite, elimination and two solves leave at most 3 n eps of | |L| |U| | <= 2 n |A| (Higham
/// 2002, theorem 9.4 and section 9.6), a complex operation four roundings in place of one.
TEST_P(FillSolves, all_of_fill_solves_exactly) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int32_t n = 80;
    const auto check = [&](const Csr<T>& A, const PreconditionerOptions& options) {
      const AnyMatrix<T> any(A.clone());
      const std::vector<T> r = random_vector<T>(1, n);
      Array<T> z(n);
      const auto found = to_reference(contents(make_preconditioner(ctx, options, any)->apply(ctx, Array<T>(r), z)));
      std::vector<double> sums(n);
      std::vector<Z> left(r.begin(), r.end());
      const Reference entries = reference(A);
      for (std::size_t k = 0; k < entries.value.size(); ++k) {
        sums[static_cast<std::size_t>(entries.row[k])] += std::abs(entries.value[k]);
        left[static_cast<std::size_t>(entries.row[k])] -=
            entries.value[k] * found[static_cast<std::size_t>(entries.col[k])];
      }
      const double bound = 4 * 3 * n * epsilon<T>() * 2 * n * max_norm(sums) * max_norm(found);
      EXPECT_LE(max_norm(left), bound) << name(options);
      EXPECT_GT(max_norm(found), 0);
    };
    check(random_dominant<T>(2, n, 5), iluk(n));
    check(random_hpd<T>(3, n, 5), iluk(n));
    check(random_hpd<T>(3, n, 5), ick(n));
    check(random_dominant<T>(2, n, 5), ilut(n, 0));
    check(with_rows_shifted(ctx, random_dominant<T>(2, n, 5)), ilut(n, 0, 1));
    check(random_hpd<T>(3, n, 5), ict(n, 0));
    check(random_hpd<T>(3, n, 5), ict(n, 0, DropCompensation::diagonal));
    check(random_dominant<T>(2, n, 5), parilut(n, 10, 2 * n));
    check(random_hpd<T>(3, n, 5), parict(n, 10, 2 * n));
  });
}

/// Level 0 has the bits of the factorization without fill.
TEST_P(FillSolves, level_0_is_without_fill) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> general(random_dominant<T>(4, 500, 6)), definite(random_hpd<T>(5, 500, 6));
    const Array<T> r(random_vector<T>(6, 500));
    const auto applied_to = [&](const PreconditionerOptions& options, const AnyMatrix<T>& A) {
      Array<T> z(500);
      return contents(make_preconditioner(ctx, options, A)->apply(ctx, r, z));
    };
    EXPECT_EQ(applied_to(iluk(0), general), applied_to(Ilu0Options{}, general));
    EXPECT_EQ(applied_to(ick(0), definite), applied_to(Ic0Options{}, definite));
  });
}

INSTANTIATE_TEST_SUITE_P(, FillSolves, backends_and_scalars, param_name);

using FillFacts = OnBackend;

TEST_P(FillFacts, more_levels_take_fewer_iterations) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(50);
  const auto b = random_vector<double>(7, A.rows());
  for (const bool definite : {false, true}) {
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (const int level : {0, 1, 2, 5}) {
      const auto options = definite ? PreconditionerOptions(ick(level)) : PreconditionerOptions(iluk(level));
      const auto solved =
          solve(ctx, A, b, definite ? SolverOptions(PcgOptions{}) : SolverOptions(GmresOptions{}), options);
      EXPECT_EQ(solved.report.reason, Reason::converged);
      EXPECT_LT(solved.report.iterations, before) << level;
      before = solved.report.iterations;
    }
  }
}

TEST_P(FillFacts, smaller_thresholds_take_fewer_iterations) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(50);
  const auto b = random_vector<double>(8, A.rows());
  const auto iterations = [&](const SolverOptions& solver, const PreconditionerOptions& options) {
    const auto solved = solve(ctx, A, b, solver, options);
    EXPECT_EQ(solved.report.reason, Reason::converged);
    return solved.report.iterations;
  };
  const SolverOptions pcg = PcgOptions{}, gmres = GmresOptions{};
  const auto without = iterations(pcg, Ic0Options{});
  for (const auto compensation : {DropCompensation::none, DropCompensation::diagonal})
    EXPECT_LT(iterations(pcg, ict(40, 1e-3, compensation)), without);
  EXPECT_LT(iterations(pcg, ict(40, 1e-5)), iterations(pcg, ict(40, 1e-2)));
  EXPECT_LT(iterations(gmres, ilut(40, 1e-3)), iterations(gmres, Ilu0Options{}));
  EXPECT_LT(iterations(gmres, ilut(40, 1e-5)), iterations(gmres, ilut(40, 1e-2)));
}

TEST_P(FillFacts, more_fill_by_sweeps_takes_fewer_iterations) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(50);
  const auto b = random_vector<double>(8, A.rows());
  for (const bool definite : {false, true}) {
    const auto iterations = [&](const PreconditionerOptions& options) {
      const auto solved =
          solve(ctx, A, b, definite ? SolverOptions(PcgOptions{}) : SolverOptions(GmresOptions{}), options);
      EXPECT_EQ(solved.report.reason, Reason::converged);
      return solved.report.iterations;
    };
    auto before =
        iterations(definite ? PreconditionerOptions(Paric0Options{}) : PreconditionerOptions(Parilu0Options{}));
    for (const double fill : {1.3, 2.0, 4.0}) {
      const auto now =
          iterations(definite ? PreconditionerOptions(parict(fill)) : PreconditionerOptions(parilut(fill)));
      EXPECT_LT(now, before) << fill;
      before = now;
    }
  }
}

/// The pattern stays: four times A has the factor of A with U four times, or L twice as large, exactly.
TEST_P(FillFacts, a_pattern_by_sweeps_is_reported_and_takes_new_values) {
  Context ctx = context();
  Csr<double> four_times = poisson2d<double>(20);
  for (double& value : four_times.values().edit()) value *= 4;
  const AnyMatrix<double> A(poisson2d<double>(20)), larger(std::move(four_times));
  const Array<double> r(random_vector<double>(9, 400));
  for (const PreconditionerOptions& options :
       {PreconditionerOptions(parilut(1.5)), PreconditionerOptions(parict(1.5))}) {
    const bool lu = std::holds_alternative<ParilutOptions>(options);
    const std::int64_t of_a = 400 + (lu ? 2 : 1) * 2 * 20 * 19, kept = of_a + of_a / 2;
    const auto made = make_preconditioner(ctx, options, A);
    const auto applied = [&] {
      Array<double> z(400);
      return contents(made->apply(ctx, r, z));
    };
    const auto first = applied();
    std::vector<double> quarters;
    for (const double value : first) quarters.push_back(value / 4);
    for (const AnyMatrix<double>* next : {&A, &larger, &A}) {
      made->update(ctx, *next);
      EXPECT_EQ(applied(), next == &A ? first : quarters);
      const PreconditionerReport report = made->report();
      EXPECT_EQ(fact<std::int64_t>(report, "cycles"), 5);
      EXPECT_EQ(fact<std::int64_t>(report, "sweeps"), 5);
      EXPECT_EQ(fact<std::int64_t>(report, "factor_nonzeros"), kept);
      EXPECT_DOUBLE_EQ(fact<double>(report, "fill_ratio"), static_cast<double>(kept) / static_cast<double>(of_a));
    }
    EXPECT_THROW(made->update(ctx, AnyMatrix<double>(poisson2d<double>(21))), Error);
  }
}

TEST_P(FillFacts, thresholds_are_reported_and_take_no_new_values) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(20));
  for (const PreconditionerOptions& options : {PreconditionerOptions(ilut(0, 0)), PreconditionerOptions(ict(0, 0))}) {
    const auto made = make_preconditioner(ctx, options, A);
    const PreconditionerReport report = made->report();
    EXPECT_EQ(fact<std::int64_t>(report, "factor_nonzeros"), 400);
    const bool lu = std::holds_alternative<IlutOptions>(options);
    EXPECT_DOUBLE_EQ(fact<double>(report, "fill_ratio"), 400.0 / (400 + (lu ? 2 : 1) * 2 * 20 * 19));
    EXPECT_EQ(fact<std::string>(report, "factored_on"), "host");
    EXPECT_NE(complaint<InvalidArgument>([&] { made->update(ctx, A); }).find("its pattern follows the values"),
              std::string::npos);
  }
}

/// Rows that are dominated by entries beside the diagonal have these for pivots where the largest always is one.
TEST_P(FillFacts, pivoting_solves_what_has_no_diagonal) {
  Context ctx = context();
  const Csr<double> A = with_rows_shifted(ctx, random_dominant<double>(9, 400, 6));
  const auto b = random_vector<double>(10, A.rows());
  const AnyMatrix<double> any(A.clone()), dominant(poisson2d<double>(20));
  EXPECT_NE(complaint<InvalidArgument>([&] {
              make_preconditioner<double>(ctx, ilut(10, 0.01), any);
            }).find("set pivoting: 0.1 or shift: {type: nonzero}"),
            std::string::npos);
  const auto moved = [&](const Preconditioner<double>& M) { return fact<std::int64_t>(M.report(), "moved_pivots"); };
  const auto made = make_preconditioner<double>(ctx, ilut(10, 0.01, 1), any);
  EXPECT_EQ(moved(*made), 400);
  EXPECT_EQ(moved(*make_preconditioner<double>(ctx, ilut(10, 0.01, 0.1), dominant)), 0);
  const auto solved = solve(ctx, A, b, GmresOptions{}, ilut(10, 0.01, 1)), without = solve(ctx, A, b, GmresOptions{});
  EXPECT_EQ(solved.report.reason, Reason::converged);
  EXPECT_LT(solved.report.iterations, without.report.iterations / 2);
  EXPECT_NE(complaint<InvalidArgument>([&] { made->update(ctx, any); }).find("its pattern follows the values"),
            std::string::npos);
}

/// Of the 5 points of a grid, level 1 joins two neighbors of each that went before.
TEST_P(FillFacts, are_reported) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(20));
  const std::int64_t points = 400, sides = 2 * 20 * 19, joined = 19 * 19;
  for (const bool lu : {true, false}) {
    const auto made = make_preconditioner(ctx, lu ? PreconditionerOptions(iluk(1)) : PreconditionerOptions(ick(1)), A);
    const PreconditionerReport report = made->report();
    const std::int64_t triangles = lu ? 2 : 1, entries = points + triangles * (sides + joined);
    EXPECT_EQ(fact<std::int64_t>(report, "level"), 1);
    EXPECT_EQ(fact<std::int64_t>(report, "factor_nonzeros"), entries);
    EXPECT_DOUBLE_EQ(fact<double>(report, "fill_ratio"),
                     static_cast<double>(entries) / static_cast<double>(points + triangles * sides));
    EXPECT_EQ(fact<std::string>(report, "fill_found_on"), "host");
  }
}

/// A saddle point's zero block has pivots where elimination fills them in.
TEST_P(FillFacts, what_cannot_be_factored_is_refused) {
  Context ctx = context();
  const auto refusal = [&](const PreconditionerOptions& options, std::vector<double> values) {
    const AnyMatrix<double> A(Csr<double>(3, Array<std::int32_t>{0, 2, 4, 6}, Array<std::int32_t>{0, 2, 1, 2, 0, 1},
                                          Array<double>(std::move(values))));
    return complaint<InvalidArgument>([&] { make_preconditioner(ctx, options, A); });
  };
  EXPECT_EQ(refusal(iluk(1), {2, 1, 3, 1, 1, 1}), "");
  EXPECT_NE(refusal(iluk(0), {2, 1, 3, 1, 1, 1}).find("no entry on the diagonal in row 2"), std::string::npos);
  EXPECT_NE(refusal(parilut(2), {2, 1, 3, 1, 1, 1}).find("preconditioner parilut: there is no entry on the diagonal"),
            std::string::npos);
  EXPECT_NE(refusal(parict(2), {2, 1, 3, 1, 1, 1}).find("preconditioner parict: there is no entry on the diagonal"),
            std::string::npos);
  EXPECT_NE(refusal(iluk(1), {2, 2, 4, -2, 1, 2}).find("preconditioner iluk: the pivot is 0 in row 2"),
            std::string::npos);
  EXPECT_NE(refusal(iluk(1), {1e-300, 1e300, 1, 1, 1, 1}).find("NaN or infinite in row 2"), std::string::npos);
  EXPECT_EQ(refusal(ilut(5, 0), {2, 1, 3, 1, 1, 1}), "");
  EXPECT_NE(refusal(ilut(5, 0), {2, 2, 4, -2, 1, 2}).find("preconditioner ilut: the pivot is 0 in row 2"),
            std::string::npos);
  EXPECT_NE(refusal(ilut(5, 0), {1e-300, 1e300, 1, 1, 1, 1}).find("NaN or infinite in row 2"), std::string::npos);
  EXPECT_NE(refusal(ict(5, 0), {2, 1, 3, 1, 1, 1}).find("not positive"), std::string::npos);
  EXPECT_NE(refusal(ick(1), {2, 1, 3, 1, 1, 1}).find("not positive"), std::string::npos);
}

/// The matrix of Kershaw (1978) breaks down without fill; with it, the factor is complete and needs no shift, nor where
/// what is dropped is made up for.
TEST_P(FillFacts, fill_or_compensation_keep_pivots_positive_where_a_shift_was_needed) {
  Context ctx = context();
  const AnyMatrix<double> A(Csr<double>(4, Array<std::int32_t>{0, 3, 6, 9, 12},
                                        Array<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
                                        Array<double>{3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3}));
  EXPECT_GT(fact<double>(make_preconditioner<double>(ctx, ick(0), A)->report(), "shift"), 0);
  EXPECT_EQ(fact<double>(make_preconditioner<double>(ctx, ick(1), A)->report(), "shift"), 0);
  EXPECT_GT(fact<double>(make_preconditioner<double>(ctx, ict(1, 0), A)->report(), "shift"), 0);
  const auto compensated = make_preconditioner<double>(ctx, ict(1, 0, DropCompensation::diagonal), A);
  EXPECT_EQ(fact<double>(compensated->report(), "shift"), 0);
}

INSTANTIATE_TEST_SUITE_P(, FillFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
