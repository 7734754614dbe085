// Preconditioners by sweeps, and by approximate solves with factors.
#include "solvers/precond/preconditioner.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

constexpr FactorSolveMethod all_solves[] = {FactorSolveMethod::automatic, FactorSolveMethod::natural,
                                            FactorSolveMethod::by_level,  FactorSolveMethod::level_kernels,
                                            FactorSolveMethod::one_block, FactorSolveMethod::jacobi,
                                            FactorSolveMethod::isai};
constexpr FactorSolveOptions approximate_solves[] = {
    {FactorSolveMethod::jacobi, 4}, {FactorSolveMethod::isai, 1, 0}, {FactorSolveMethod::isai, 1, 1}};

Ic0Options ic0(const FactorSolveOptions& solve) {
  Ic0Options options;
  options.solve = solve;
  return options;
}
Ilu0Options ilu0(const FactorSolveOptions& solve) {
  Ilu0Options options;
  options.solve = solve;
  return options;
}
Paric0Options paric0(int sweeps, const FactorSolveOptions& solve = {}) {
  Paric0Options options;
  options.sweeps = sweeps, options.solve = solve;
  return options;
}
Parilu0Options parilu0(int sweeps, const FactorSolveOptions& solve = {}) {
  Parilu0Options options;
  options.sweeps = sweeps, options.solve = solve;
  return options;
}

template <class T>
std::vector<T> applied_once(Context& ctx, const Csr<T>& A, const PreconditionerOptions& options,
                            const std::vector<T>& r) {
  const AnyMatrix<T> any(A.clone());
  Array<T> z(A.rows());
  return contents(make_preconditioner(ctx, options, any)->apply(ctx, Array<T>(r), z));
}

using FactoredSolves = OnBackendAndScalar;

/// Enough sweeps of the factorization, and of the solves: the grid has 39 levels.
TEST_P(FactoredSolves, many_sweeps_are_the_exact_preconditioner) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(20);
    const auto r = random_vector<T>(1, A.rows());
    const FactorSolveOptions by_sweeps{FactorSolveMethod::jacobi, 39};
    const auto expect_near = [&](const PreconditionerOptions& options, const PreconditionerOptions& exact) {
      const auto found = applied_once(ctx, A, options, r), expected = applied_once(ctx, A, exact, r);
      // The factors' condition number is below 100 on so small a grid.
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_LE(std::abs(found[i] - expected[i]), 1000 * epsilon<T>()) << i;
    };
    expect_near(parilu0(78), Ilu0Options{});
    expect_near(paric0(78), Ic0Options{});
    expect_near(ilu0(by_sweeps), Ilu0Options{});
    expect_near(ic0(by_sweeps), Ic0Options{});
    expect_near(paric0(78, by_sweeps), Ic0Options{});
  });
}

/// <M r, s> = <r, M s>, to the rounding of either.
TEST_P(FactoredSolves, stay_hermitian) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(2, 400, 7);
    const auto r = random_vector<T>(3, A.rows()), s = random_vector<T>(4, A.rows());
    const auto product = [](const std::vector<T>& a, const std::vector<T>& b) {
      Z sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(Z(a[i])) * Z(b[i]);
      return sum;
    };
    const auto norm = [&](const std::vector<T>& a) { return std::sqrt(product(a, a).real()); };
    for (const FactorSolveOptions& solve : approximate_solves)
      for (const PreconditionerOptions& options :
           {PreconditionerOptions(ic0(solve)), PreconditionerOptions(paric0(2, solve))}) {
        const auto mr = applied_once(ctx, A, options, r), ms = applied_once(ctx, A, options, s);
        EXPECT_LE(std::abs(product(mr, s) - product(r, ms)),
                  500 * epsilon<T>() * (norm(mr) * norm(s) + norm(r) * norm(ms)));
        EXPECT_GT(product(r, mr).real(), 0);
      }
  });
}

/// Every way to solve converges, the approximate ones in more iterations than the exact ones, in fewer than the
/// diagonal alone takes.
TEST_P(FactoredSolves, converge_whichever_way_triangles_are_solved) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-8;
    const Csr<T> A = poisson2d<T>(40);
    const auto b = random_vector<T>(5, A.rows());
    const SolverOptions pcg = all_solvers(tolerance)[0], bicgstab = all_solvers(tolerance)[2];
    const auto iterations = [&](const SolverOptions& solver, const PreconditionerOptions& options) {
      const Solved<T> solved = solve(ctx, A, b, solver, options);
      EXPECT_EQ(solved.report.reason, Reason::converged);
      EXPECT_LE(relative_residual(reference(A), to_reference(solved.x), to_reference(b)), 1.01 * tolerance);
      return solved.report.iterations;
    };
    const auto exact = iterations(pcg, Ic0Options{}), diagonal = iterations(pcg, JacobiOptions{});
    for (const FactorSolveMethod method : all_solves) {
      const FactorSolveOptions solve{method, 5, 0};
      const bool approximate = method == FactorSolveMethod::jacobi || method == FactorSolveMethod::isai;
      for (const PreconditionerOptions& options :
           {PreconditionerOptions(ic0(solve)), PreconditionerOptions(paric0(5, solve))}) {
        const auto found = iterations(pcg, options);
        EXPECT_LT(found, approximate ? diagonal : exact + 4)
            << triangular_solve_names[static_cast<std::size_t>(method)];
      }
      iterations(bicgstab, parilu0(5, solve));
      iterations(bicgstab, ilu0(solve));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, FactoredSolves, backends_and_scalars, param_name);

using FactoredFacts = OnBackend;

TEST_P(FactoredFacts, few_sweeps_take_hardly_more_iterations_than_the_factor) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(60);
  const auto b = random_vector<double>(6, A.rows());
  const auto iterations = [&](const PreconditionerOptions& options) {
    return solve(ctx, A, b, SolverOptions(PcgOptions{}), options).report.iterations;
  };
  const auto exact = iterations(Ic0Options{});
  auto before = iterations(JacobiOptions{});
  for (const int sweeps : {1, 2, 4}) {
    const auto found = iterations(paric0(sweeps));
    EXPECT_LE(found, before) << sweeps;
    before = found;
  }
  EXPECT_LE(iterations(paric0(5)), exact + exact / 10);
}

TEST_P(FactoredFacts, are_reported) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(20));
  const auto fact = [&](const PreconditionerOptions& options, const std::string& name) {
    for (const Fact& f : make_preconditioner(ctx, options, A)->report().facts)
      if (f.name == name) return f.value;
    ADD_FAILURE() << name << " is missing";
    return decltype(Fact::value)();
  };
  for (const PreconditionerOptions& options : {PreconditionerOptions(parilu0(3)), PreconditionerOptions(paric0(3))}) {
    EXPECT_EQ(std::get<std::int64_t>(fact(options, "sweeps")), 3);
    EXPECT_GT(std::get<double>(fact(options, "nonlinear_residual")), 1e-6);
    EXPECT_LT(std::get<double>(fact(options, "nonlinear_residual")), 0.05);
  }
  EXPECT_LT(std::get<double>(fact(paric0(78), "nonlinear_residual")), 1e-14);
  EXPECT_EQ(std::get<std::int64_t>(fact(parilu0(1), "factor_nonzeros")), 400 + 4 * 20 * 19);
  EXPECT_EQ(std::get<std::int64_t>(fact(paric0(1), "factor_nonzeros")), 400 + 2 * 20 * 19);
  EXPECT_EQ(std::get<std::int64_t>(fact(ic0({FactorSolveMethod::isai}), "factor_nonzeros")), 400 + 2 * 20 * 19);
  EXPECT_EQ(std::get<std::string>(fact(ic0({FactorSolveMethod::isai}), "upper_method")), "isai");
  EXPECT_EQ(std::get<std::string>(fact(ilu0({FactorSolveMethod::jacobi}), "lower_method")), "jacobi");
  EXPECT_EQ(std::get<std::string>(fact(ilu0({FactorSolveMethod::by_level}), "lower_method")), "by_level");
}

TEST_P(FactoredFacts, what_cannot_be_factored_by_sweeps_is_refused) {
  Context ctx = context();
  const auto refusal = [&](const PreconditionerOptions& options, Csr<double> A) {
    const AnyMatrix<double> any(std::move(A));
    return complaint<InvalidArgument>([&] { make_preconditioner(ctx, options, any); });
  };
  for (const PreconditionerOptions& options : {PreconditionerOptions(parilu0(5)), PreconditionerOptions(paric0(5))}) {
    EXPECT_NE(refusal(options, {2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 0}, Array<double>{1, 2, 3}})
                  .find("there is no entry on the diagonal in row 1"),
              std::string::npos);
    Csr<double> A = poisson2d<double>(5);
    A.values().edit()[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(refusal(options, std::move(A)).find("the pivot is NaN or infinite in row 0"), std::string::npos);
  }
  EXPECT_EQ(refusal(parilu0(5), {3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                                 Array<double>{2, 4, 1, 2, 3, 5, 1}}),
            "preconditioner parilu0: the pivot is 0 in row 1 (rows count from 0): set shift: {type: nonzero}, or use "
            "preconditioner none");
  Csr<double> negative = poisson2d<double>(5);
  for (double& value : negative.values().edit()) value = -value;
  EXPECT_NE(refusal(paric0(5), std::move(negative)).find("not positive, even with the diagonal multiplied by 2.024"),
            std::string::npos);
}

/// The matrix of Kershaw (1978), for which IC(0) meets a negative pivot.
TEST_P(FactoredFacts, paric0_shifts_the_diagonal_where_it_breaks_down) {
  Context ctx = context();
  const Csr<double> A(4, Array<std::int32_t>{0, 3, 6, 9, 12}, Array<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
                      Array<double>{3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3});
  const AnyMatrix<double> any(A.clone());
  const auto made = make_preconditioner<double>(ctx, paric0(10), any);
  ASSERT_EQ(made->report().notes.size(), 1u);
  EXPECT_NE(made->report().notes[0].find("preconditioner paric0: the diagonal was multiplied by 1."),
            std::string::npos);
  EXPECT_EQ(solve(ctx, A, std::vector<double>{1, 2, 3, 4}, SolverOptions(PcgOptions{}), paric0(10)).report.reason,
            Reason::converged);
}

/// 1 on the diagonal and `other` elsewhere: positive definite, and sweeps diverge where there are many rows.
AnyMatrix<double> equally_correlated(std::int32_t n, double other) {
  std::vector<std::int32_t> offsets, cols;
  std::vector<double> values;
  for (std::int32_t i = 0; i <= n; ++i) offsets.push_back(i * n);
  for (std::int32_t k = 0; k < n * n; ++k) cols.push_back(k % n), values.push_back(k / n == k % n ? 1 : other);
  return AnyMatrix<double>(
      Csr<double>(n, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<double>(values)));
}

TEST_P(FactoredFacts, paric0_shifts_the_diagonal_where_sweeps_diverge) {
  Context ctx = context();
  const AnyMatrix<double> A = equally_correlated(60, 0.2), stronger = equally_correlated(150, 0.5);
  const auto made = make_preconditioner<double>(ctx, paric0(30), A);
  ASSERT_EQ(made->report().notes.size(), 1u);
  EXPECT_NE(made->report().notes[0].find("the diagonal was multiplied by 2.024"), std::string::npos);
  Array<double> z(60);
  for (const double value : contents(made->apply(ctx, Array<double>(random_vector<double>(7, 60)), z)))
    EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(complaint<InvalidArgument>([&] { make_preconditioner(ctx, paric0(30), stronger); }),
            "preconditioner paric0: the pivot is NaN or infinite in row 41 (rows count from 0): if no entry of the "
            "matrix is (krill inspect), the sweeps diverge: use preconditioner ic0");
  Paric0Options unshifted = paric0(30);
  unshifted.shift = {CholeskyShift::none};
  EXPECT_NE(complaint<InvalidArgument>([&] { make_preconditioner(ctx, unshifted, A); }).find("the sweeps diverge"),
            std::string::npos);
}

/// A pivot that vanishes gets the same value from a shift as from a boost of that size, whoever factors.
TEST_P(FactoredFacts, shift_nonzero_replaces_pivots_that_vanish) {
  Context ctx = context();
  const Csr<double> A(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                      Array<double>{2, 4, 1, 2, 3, 5, 1});
  const AnyMatrix<double> any(A.clone());
  const ShiftOptions<LuShift> tenth{LuShift::nonzero, 0.1};  // of the largest entry, 5
  Ilu0Options boosted, shifted;
  boosted.boost = 0.5, boosted.boost_tolerance = 0.5, shifted.shift = tenth;
  Bilu0Options in_blocks;
  in_blocks.shift = tenth, in_blocks.block_dim = 1;
  Parilu0Options by_sweeps = parilu0(10);
  by_sweeps.shift = tenth;
  const std::vector<double> r{1, 2, 3}, expected = applied_once(ctx, A, boosted, r);
  for (const PreconditionerOptions& options :
       {PreconditionerOptions(shifted), PreconditionerOptions(in_blocks), PreconditionerOptions(by_sweeps)}) {
    const auto type = std::visit([](const auto& o) { return std::string(o.type); }, options);
    EXPECT_EQ(make_preconditioner(ctx, options, any)->report().notes,
              std::vector<std::string>{"preconditioner " + type + ": 1 pivot got the modulus 0.5"});
    const std::vector<double> z = applied_once(ctx, A, options, r);
    for (std::size_t i = 0; i < z.size(); ++i)
      EXPECT_NEAR(z[i], expected[i], 100 * epsilon<double>() * std::abs(expected[i])) << type;
  }
  Ilu0Options by_default;
  by_default.shift.type = LuShift::nonzero;  // 5 * 2^-26
  EXPECT_EQ(make_preconditioner<double>(ctx, by_default, any)->report().notes,
            std::vector<std::string>{"preconditioner ilu0: 1 pivot got the modulus 7.451e-08"});
}

TEST_P(FactoredFacts, shift_nonzero_has_no_size_for_a_matrix_of_zeros_or_nan) {
  Context ctx = context();
  Ilu0Options options;
  options.shift.type = LuShift::nonzero;
  for (const auto& [value, message] :
       {std::pair{0.0, "the pivot is 0 in row 0"},
        std::pair{std::numeric_limits<double>::quiet_NaN(), "NaN or infinite in row 0"}}) {
    const AnyMatrix<double> A(Csr<double>(1, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0}, Array<double>{value}));
    EXPECT_NE(complaint<InvalidArgument>([&] { make_preconditioner<double>(ctx, options, A); }).find(message),
              std::string::npos)
        << value;
  }
}

INSTANTIATE_TEST_SUITE_P(, FactoredFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
