#include "tests/solvers/systems.hpp"

namespace krill::test {
namespace {

using Convergence = OnBackendAndScalar;

/// What the residual of the tested type can be told apart from.
template <class T>
double tolerance() {
  return sizeof(real_t<T>) == 4 ? 1e-4 : 1e-9;
}

TEST_P(Convergence, every_solver_meets_its_tolerance_on_hermitian_positive_definite_systems) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::vector<PreconditionerOptions> few{NoPreconditioner{}, JacobiOptions{}, Ilu0Options{}, Ic0Options{}};
    for (const std::int32_t n : {1, 2, 17, 400, 5000}) {
      const Csr<T> A = random_hpd<T>(51, n, 7);
      const auto b = random_vector<T>(52, n);
      for (const SolverOptions& options : all_solvers(tolerance<T>()))
        for (const PreconditionerOptions& M : n == 2 || n == 400 ? hermitian_preconditioners() : few) {
          const Solved<T> s = solve(ctx, A, b, options, M);
          const double judged = relative_residual(reference(A), to_reference(s.x), to_reference(b));
          EXPECT_EQ(s.report.reason, Reason::converged)
              << name(options) << ' ' << name(M) << " n " << n << ": " << name(s.report.reason);
          EXPECT_LE(judged, tolerance<T>() * 1.01) << name(options) << " n " << n;
          EXPECT_NEAR(s.report.true_relative, judged, 0.05 * judged + 20 * epsilon<T>());
          EXPECT_EQ(s.report.history.size(), static_cast<std::size_t>(s.report.iterations) + 1);
          ASSERT_EQ(s.report.history_seconds.size(), s.report.history.size());
          EXPECT_TRUE(std::ranges::is_sorted(s.report.history_seconds)) << name(options);
          EXPECT_GE(s.report.history_seconds.front(), 0);
          EXPECT_LE(s.report.history_seconds.back(), s.report.seconds) << name(options);
        }
    }
  });
}

TEST_P(Convergence, general_solvers_meet_their_tolerance_on_nonsymmetric_systems) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {3, 60, 3000}) {
      const Csr<T> A = random_dominant<T>(53, n, 6);
      const auto b = random_vector<T>(54, n);
      for (const SolverOptions& options : {SolverOptions(GmresOptions{2000, 20, {.relative = tolerance<T>()}}),
                                           SolverOptions(BicgstabOptions{2000, {.relative = tolerance<T>()}})}) {
        for (const PreconditionerOptions& M : general_preconditioners()) {
          const Solved<T> s = solve(ctx, A, b, options, M);
          EXPECT_EQ(s.report.reason, Reason::converged)
              << name(options) << ' ' << name(M) << " n " << n << ": " << name(s.report.reason);
          EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), tolerance<T>() * 1.01);
        }
      }
    }
  });
}

TEST_P(Convergence, preconditioners_save_iterations) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(40);
    const auto b = random_vector<T>(57, A.rows());
    for (const SolverOptions& options : all_solvers(tolerance<T>())) {
      const bool pcg = needs_definite(options);
      const int without = solve(ctx, A, b, options).report.iterations;
      for (PreconditionerOptions M : pcg ? hermitian_preconditioners() : general_preconditioners()) {
        if (std::holds_alternative<JacobiOptions>(M)) continue;  // the diagonal is constant
        // blocks of a grid save a few iterations, less than those of BiCGStab waver
        if (std::holds_alternative<BlockJacobiOptions>(M) && std::holds_alternative<BicgstabOptions>(options)) continue;
        const Solved<T> s = solve(ctx, A, b, options, M);
        EXPECT_EQ(s.report.reason, Reason::converged) << name(options) << ' ' << name(M);
        EXPECT_LT(s.report.iterations, without) << name(options) << ' ' << name(M);
        if (sizeof(real_t<T>) == 4) continue;
        std::visit(
            [](auto& o) {
              if constexpr (requires { o.precision = KeptPrecision::float32; }) o.precision = KeptPrecision::float32;
            },
            M);
        const Solved<T> lower = solve(ctx, A, b, options, M);
        EXPECT_EQ(lower.report.reason, Reason::converged) << name(options) << ' ' << name(M);
        EXPECT_LT(lower.report.iterations, without) << name(options) << ' ' << name(M);
      }
    }
  });
}

TEST_P(Convergence, a_restart_shorter_than_the_space_converges_too) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(55, 500, 6);
    const auto b = random_vector<T>(56, 500);
    for (const int restart : {1, 3, 8, 9, 17}) {
      const Solved<T> s = solve(ctx, A, b, SolverOptions(GmresOptions{5000, restart, {.relative = tolerance<T>()}}));
      EXPECT_EQ(s.report.reason, Reason::converged) << restart << ": " << name(s.report.reason);
      EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), tolerance<T>() * 1.01) << restart;
    }
  });
}

TEST_P(Convergence, a_zero_right_hand_side_is_answered_with_zero) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(57, 100, 5);
    for (const SolverOptions& options : all_solvers()) {
      const Solved<T> s = solve(ctx, A, std::vector<T>(100), options, NoPreconditioner{}, random_vector<T>(58, 100));
      EXPECT_EQ(s.report.reason, Reason::converged) << name(options);
      EXPECT_EQ(s.report.iterations, 0);
      EXPECT_EQ(s.x, std::vector<T>(100));
      EXPECT_EQ(s.report.true_relative, 0);
    }
  });
}

TEST_P(Convergence, an_exact_initial_guess_takes_no_iteration) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(8);
    std::vector<T> x(64), b(64);
    for (std::size_t i = 0; i < 64; ++i) x[i] = T(static_cast<real_t<T>>(i % 7));
    const Product exact = product(Op::none, 1.0, reference(A), to_reference(x), 0.0, std::vector<Z>(64), 0);
    for (std::size_t i = 0; i < 64; ++i) b[i] = T(static_cast<real_t<T>>(exact.y[i].real()));
    for (SolverOptions options : all_solvers()) {
      for (const Baseline baseline : {Baseline::rhs, Baseline::initial_residual}) {
        std::visit([&](auto& o) { o.stop.baseline = baseline; }, options);
        const Solved<T> s = solve(ctx, A, b, options, NoPreconditioner{}, x);
        EXPECT_EQ(s.report.reason, Reason::converged) << name(options) << ": " << name(s.report.reason);
        EXPECT_EQ(s.report.iterations, 0) << name(options);
        EXPECT_EQ(s.x, x);
      }
    }
  });
}

TEST_P(Convergence, right_hand_sides_of_any_magnitude_take_the_same_iterations) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(59, 300, 7);
    const auto b = random_vector<T>(60, 300);
    const bool single = sizeof(real_t<T>) == 4;
    for (const SolverOptions& options : all_solvers(tolerance<T>())) {
      const int expected = solve(ctx, A, b, options).report.iterations;
      for (const int exponent : single ? std::vector{-120, 100} : std::vector{-565, 531}) {  // 1e-170 and 1e160
        auto scaled_b = b;
        for (T& v : scaled_b) v *= static_cast<real_t<T>>(std::ldexp(1.0, exponent));
        const Solved<T> s = solve(ctx, A, scaled_b, options);
        EXPECT_EQ(s.report.reason, Reason::converged) << name(options) << ": " << name(s.report.reason);
        EXPECT_EQ(s.report.iterations, expected) << name(options) << " times 2^" << exponent;
      }
    }
  });
}

TEST_P(Convergence, the_initial_residual_and_an_absolute_tolerance_are_baselines_too) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(61, 300, 7);
    const auto b = random_vector<T>(62, 300), x0 = random_vector<T>(63, 300);
    PcgOptions options;
    options.stop.baseline = Baseline::initial_residual;
    options.stop.relative = 1e-3;
    const SolveReport report = solve(ctx, A, b, SolverOptions(options), NoPreconditioner{}, x0).report;
    EXPECT_EQ(report.reason, Reason::converged);
    EXPECT_EQ(report.initial_relative, 1);
    EXPECT_LE(report.true_relative, 1e-3);
    const double baseline = report.baseline;
    options.stop.relative = 0;
    options.stop.absolute = 1e-3 * baseline;
    const SolveReport absolute = solve(ctx, A, b, SolverOptions(options), NoPreconditioner{}, x0).report;
    EXPECT_EQ(absolute.reason, Reason::converged);
    EXPECT_EQ(absolute.iterations, report.iterations);
    EXPECT_NEAR(absolute.target_relative, 1e-3, 1e-12);
  });
}

/// ||b - A x|| and ||A||_F ||x|| + ||b||, by Eigen.
template <class T>
std::pair<double, double> backward_terms(const Csr<T>& A, const std::vector<T>& x, const std::vector<T>& b) {
  const auto size = [](const std::vector<Z>& v) {
    double squares = 0;
    for (const Z& z : v) squares += std::norm(z);
    return std::sqrt(squares);
  };
  const double rhs = size(to_reference(b));
  return {rhs * relative_residual(reference(A), to_reference(x), to_reference(b)),
          size(reference(A).value) * size(to_reference(x)) + rhs};
}

TEST_P(Convergence, the_backward_error_is_a_baseline_too) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(40);
    const std::vector<T> b(1600, T(1));
    const double target = 1e-3 * tolerance<T>();
    for (const SolverOptions& by_rhs : all_solvers(target))
      for (const bool guess : {false, true}) {
        const auto x0 = guess ? random_vector<T>(59, 1600) : std::vector<T>();
        const int of_rhs = solve(ctx, A, b, by_rhs, JacobiOptions{}, x0).report.iterations;
        SolverOptions options = by_rhs;
        std::visit([](auto& o) { o.stop.baseline = Baseline::backward_error; }, options);
        const Solved<T> s = solve(ctx, A, b, options, JacobiOptions{}, x0);
        const auto [residual, scale] = backward_terms(A, s.x, b);
        EXPECT_EQ(s.report.reason, Reason::converged) << name(options) << ": " << name(s.report.reason);
        EXPECT_NEAR(s.report.baseline, scale, 1e-5 * scale) << name(options);
        EXPECT_LE(residual, 1.01 * target * scale) << name(options);
        EXPECT_NEAR(s.report.true_relative, residual / scale, 0.05 * residual / scale) << name(options);
        EXPECT_DOUBLE_EQ(s.report.target_relative, target) << name(options);
        EXPECT_GT(s.report.iterations, 10) << name(options);
        EXPECT_LT(s.report.iterations, of_rhs) << name(options);
      }
  });
}

TEST_P(Convergence, a_target_of_the_backward_error_that_is_missed_is_reported_as_such) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(12);
    const auto b = random_vector<T>(60, 144), x0 = random_vector<T>(61, 144);
    for (SolverOptions options : all_solvers(1e-30, 3)) {
      std::visit([](auto& o) { o.stop.baseline = Baseline::backward_error; }, options);
      const Solved<T> s = solve(ctx, A, b, options, NoPreconditioner{}, x0);
      const auto [residual, scale] = backward_terms(A, s.x, b);
      EXPECT_EQ(s.report.reason, Reason::max_iterations) << name(options) << ": " << name(s.report.reason);
      EXPECT_NEAR(s.report.baseline, scale, 1e-5 * scale) << name(options) << s.report.kept_initial_guess;
      EXPECT_NEAR(s.report.true_relative, residual / scale, 1e-4 * residual / scale) << name(options);
      EXPECT_EQ(solve(ctx, A, std::vector<T>(144), options, NoPreconditioner{}, x0).x, std::vector<T>(144));
    }
  });
}

TEST_P(Convergence, ten_right_hand_sides_need_one_plan_and_give_what_ten_plans_give) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(64, 500, 7);
    const AnyMatrix<T> any(A.clone());
    const MatrixOperator<T> op(any);
    for (const SolverOptions& options : all_solvers(tolerance<T>())) {
      const auto M = make_preconditioner(ctx, PreconditionerOptions(JacobiOptions{}), any);
      const auto solver = make_solver<T>(options, op, *M);
      for (std::uint64_t seed = 70; seed < 76; ++seed) {
        const auto b = random_vector<T>(seed, 500);
        Array<T> x(std::vector<T>(500, T(0)));
        const SolveReport report = solver->solve(ctx, Array<T>(b), x);
        const Solved<T> fresh = solve(ctx, A, b, options, JacobiOptions{});
        EXPECT_EQ(report.reason, Reason::converged) << name(options);
        EXPECT_EQ(report.iterations, fresh.report.iterations) << name(options);
        EXPECT_TRUE(std::ranges::equal(x.host(), fresh.x)) << name(options);
      }
    }
  });
}

TEST_P(Convergence, every_run_gives_the_same_bits) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(65, 40'000, 7);
    const auto b = random_vector<T>(66, 40'000);
    for (const SolverOptions& options : all_solvers(tolerance<T>())) {
      const Solved<T> first = solve(ctx, A, b, options, JacobiOptions{});
      for (int i = 0; i < 3; ++i) EXPECT_EQ(solve(ctx, A, b, options, JacobiOptions{}).x, first.x) << name(options);
      if (ctx.on_cuda()) continue;
      Context one = Context::host(1);
      EXPECT_EQ(solve(one, A, b, options, JacobiOptions{}).x, first.x) << name(options);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Convergence, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
