#include <fmt/format.h>

#include "tests/solvers/systems.hpp"

namespace krill::test {
namespace {

using Failure = OnBackend;
using FailureInEveryType = OnBackendAndScalar;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Csr<double> diagonal_matrix(const std::vector<double>& d) {
  std::vector<std::int32_t> offsets{0}, columns;
  for (std::size_t i = 0; i < d.size(); ++i)
    columns.push_back(static_cast<std::int32_t>(i)), offsets.push_back(static_cast<std::int32_t>(i) + 1);
  return {static_cast<std::int32_t>(d.size()), Array(std::move(offsets)), Array(std::move(columns)), Array(d)};
}

Csr<double> dense_matrix(std::int32_t n, double (*entry)(int, int)) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<double> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) columns.push_back(j), values.push_back(entry(i, j));
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return {n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

TEST_P(Failure, pcg_finds_negative_curvature_and_leaves_x_good) {
  Context ctx = context();
  std::vector<double> d(100, 1.0);
  d[40] = -1;
  const Solved<double> s = solve(ctx, diagonal_matrix(d), std::vector<double>(100, 1.0), SolverOptions(PcgOptions{}));
  EXPECT_NE(s.report.reason, Reason::converged);
  std::vector<double> two{1, -5};
  const Solved<double> t = solve(ctx, diagonal_matrix(two), {1.0, 1.0}, SolverOptions(PcgOptions{}));
  EXPECT_EQ(t.report.reason, Reason::not_positive_definite) << name(t.report.reason);
  EXPECT_TRUE(t.report.kept_initial_guess);
  EXPECT_EQ(t.x, std::vector<double>(2));
}

TEST_P(Failure, pcg_finds_an_indefinite_preconditioner) {
  Context ctx = context();
  // A is definite; the Jacobi preconditioner of another matrix is not
  const AnyMatrix<double> A(poisson2d<double>(10)), other(diagonal_matrix(std::vector<double>(100, -1.0)));
  const MatrixOperator<double> op(A);
  const auto M = make_preconditioner(ctx, PreconditionerOptions(JacobiOptions{}), other);
  const auto solver = make_solver<double>(PcgOptions{}, op, *M);
  Array<double> x(std::vector<double>(100, 0.0));
  EXPECT_EQ(solver->solve(ctx, Array<double>(std::vector<double>(100, 1.0)), x).reason,
            Reason::indefinite_preconditioner);
}

/// x = b / a for a multiple of the identity, where b and a have a range that x has not.
TEST_P(FailureInEveryType, an_x_beyond_its_type_is_not_representable) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const bool single = sizeof(real_t<T>) == 4;
    const auto power = [](int exponent) { return T(std::ldexp(real_t<T>(1), exponent)); };
    for (const auto& [a, b] : single ? std::vector<std::pair<int, int>>{{-60, 80}, {60, -100}}
                                     : std::vector<std::pair<int, int>>{{-510, 520}, {510, -570}})
      for (const SolverOptions& options : all_solvers()) {
        Csr<T> A = poisson2d<T>(8);
        for (T& value : A.values().edit()) value *= power(a);
        const std::vector<T> rhs(64, power(b));
        const Solved<T> s = solve(ctx, A, rhs, options, JacobiOptions{});
        EXPECT_EQ(s.report.reason, Reason::not_representable) << name(options) << ": " << name(s.report.reason);
        EXPECT_TRUE(s.report.kept_initial_guess);
        EXPECT_EQ(s.x, std::vector<T>(64)) << name(options);
        EXPECT_EQ(s.report.true_relative, 1);
      }
  });
}

/// One entry of x is too small for its type, and the residual does not feel it.
TEST_P(Failure, an_entry_that_vanishes_beside_large_ones_does_no_harm) {
  Context ctx = context();
  const std::vector<double> d{1, std::ldexp(1.0, 500)}, b{std::ldexp(1.0, -600), std::ldexp(1.0, -700)};
  const Solved<double> s = solve(ctx, diagonal_matrix(d), b, SolverOptions(PcgOptions{}), JacobiOptions{});
  EXPECT_EQ(s.report.reason, Reason::converged) << name(s.report.reason);
  EXPECT_EQ(s.x, (std::vector<double>{b[0], 0}));
}

TEST_P(Failure, a_guess_far_worse_than_zero_is_judged_by_finite_norms) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(8);
  const auto guess = random_vector<double>(71, 64);
  for (const double size : {1e-160, 1e-170, 1e-300})
    for (SolverOptions options : all_solvers()) {
      const std::vector<double> b(64, size);
      StopOptions& stop = std::visit([](auto& o) -> StopOptions& { return o.stop; }, options);
      stop.baseline = Baseline::initial_residual;
      const Solved<double> by_start = solve(ctx, A, b, options, JacobiOptions{}, guess);
      EXPECT_EQ(by_start.report.reason, Reason::converged) << name(options) << ": " << name(by_start.report.reason);
      EXPECT_GT(by_start.report.iterations, 0);
      EXPECT_LE(relative_residual(reference(A), to_reference(by_start.x), to_reference(b)) * size,
                1e-7 * relative_residual(reference(A), to_reference(guess), to_reference(b)) * size);
      stop.baseline = Baseline::rhs;
      const Solved<double> by_rhs = solve(ctx, A, b, options, JacobiOptions{}, guess);
      EXPECT_EQ(by_rhs.report.reason, Reason::not_representable) << name(options) << ": " << name(by_rhs.report.reason);
      stop.absolute = 1e-6;
      const Solved<double> by_size = solve(ctx, A, b, options, JacobiOptions{}, guess);
      EXPECT_EQ(by_size.report.reason, Reason::converged) << name(options) << ": " << name(by_size.report.reason);
      EXPECT_GT(by_size.report.iterations, 0);
    }
}

/// The recurrence falls far below what rounding lets the truth reach, and then vanishes.
TEST_P(FailureInEveryType, a_target_of_zero_ends_at_the_limit_of_accuracy) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (SolverOptions options : all_solvers(0, 20'000)) {
      const Csr<T> A = poisson2d<T>(12);
      const Solved<T> s = solve(ctx, A, random_vector<T>(72, 144), options, JacobiOptions{});
      EXPECT_EQ(s.report.reason, Reason::limit_of_accuracy) << name(options) << ": " << name(s.report.reason);
      EXPECT_GT(s.report.rounding_relative, s.report.true_relative / 10) << name(options);
      if (std::holds_alternative<GmresOptions>(options)) {
        EXPECT_LT(s.report.iterations, 500) << "it is known long before the window is over";
      }
      EXPECT_LT(s.report.true_relative, 100 * std::numeric_limits<real_t<T>>::epsilon()) << name(options);
    }
  });
}

TEST_P(Failure, nan_anywhere_ends_as_not_finite_at_once) {
  Context ctx = context();
  for (const SolverOptions& options : all_solvers()) {
    std::vector<double> b(64, 1.0);
    b[13] = nan;
    const Solved<double> in_b = solve(ctx, poisson2d<double>(8), b, options);
    EXPECT_EQ(in_b.report.reason, Reason::not_finite) << name(options) << ": " << name(in_b.report.reason);
    EXPECT_EQ(in_b.report.iterations, 0);

    Csr<double> A = poisson2d<double>(8);
    A.values().edit()[50] = nan;
    const Solved<double> in_a = solve(ctx, A, std::vector<double>(64, 1.0), options);
    EXPECT_EQ(in_a.report.reason, Reason::not_finite) << name(options) << ": " << name(in_a.report.reason);
    EXPECT_LE(in_a.report.iterations, 1);

    std::vector<double> x0(64, 0.0);
    x0[3] = std::numeric_limits<double>::infinity();
    const Solved<double> in_x =
        solve(ctx, poisson2d<double>(8), std::vector<double>(64, 1.0), options, NoPreconditioner{}, x0);
    EXPECT_EQ(in_x.report.reason, Reason::not_finite) << name(options);
  }
}

TEST_P(Failure, max_iterations_is_met_exactly) {
  Context ctx = context();
  for (const int limit : {0, 1, 2, 7, 8, 9, 23})
    for (const SolverOptions& options : all_solvers(1e-30, limit)) {
      const SolveReport report = solve(ctx, poisson2d<double>(40), std::vector<double>(1600, 1.0), options).report;
      EXPECT_EQ(report.reason, Reason::max_iterations) << name(options) << " " << limit << ": " << name(report.reason);
      EXPECT_EQ(report.iterations, limit) << name(options);
    }
}

TEST_P(Failure, a_tolerance_below_rounding_ends_at_the_limit_of_accuracy_and_not_as_converged) {
  Context ctx = context();
  for (const SolverOptions& options : all_solvers(1e-19, 20'000)) {
    const SolveReport report = solve(ctx, poisson2d<double>(30), random_vector<double>(3, 900), options).report;
    EXPECT_EQ(report.reason, Reason::limit_of_accuracy) << name(options) << ": " << name(report.reason);
    EXPECT_LT(report.true_relative, 1e-12) << name(options);
  }
}

TEST_P(Failure, hilbert_with_a_restart_of_two_is_not_called_converged) {
  Context ctx = context();
  const Csr<double> A = dense_matrix(48, [](int i, int j) { return 1.0 / (i + j + 1); });
  const auto b = random_vector<double>(5, 48);
  const Solved<double> s = solve(ctx, A, b, SolverOptions(GmresOptions{3, 2, {}}));
  EXPECT_EQ(s.report.reason, Reason::max_iterations) << name(s.report.reason);
  EXPECT_EQ(s.report.iterations, 3);
  EXPECT_GT(relative_residual(reference(A), to_reference(s.x), to_reference(b)), 1e-3);
}

TEST_P(Failure, gmres_that_cannot_move_says_so) {
  Context ctx = context();
  // the cyclic shift: GMRES makes no progress in fewer than n steps
  Csr<double> shift(
      20, Array(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}),
      Array(std::vector<std::int32_t>{19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}),
      Array(std::vector<double>(20, 1.0)));
  std::vector<double> b(20, 0.0);
  b[0] = 1;
  const Solved<double> s = solve(ctx, shift, b, SolverOptions(GmresOptions{2000, 5, {}}));
  EXPECT_EQ(s.report.reason, Reason::stagnated) << name(s.report.reason);
  EXPECT_EQ(s.report.iterations, StopOptions().stagnation);
  for (const int window : {1, 7, 100}) {
    const GmresOptions shorter{2000, 5, {.stagnation = window}};
    EXPECT_EQ(solve(ctx, shift, b, SolverOptions(shorter)).report.iterations, window);
  }
  const SolveReport endless = solve(ctx, shift, b, SolverOptions(GmresOptions{1500, 5, {.stagnation = 0}})).report;
  EXPECT_EQ(endless.reason, Reason::max_iterations) << name(endless.reason);
  const Solved<double> whole = solve(ctx, shift, b, SolverOptions(GmresOptions{2000, 20, {}}));
  EXPECT_EQ(whole.report.reason, Reason::converged) << name(whole.report.reason);
  EXPECT_EQ(whole.report.iterations, 20);
}

TEST_P(Failure, a_singular_inconsistent_system_is_not_called_converged) {
  Context ctx = context();
  std::vector<double> d(50, 1.0);
  d[7] = 0;
  const Csr<double> A = diagonal_matrix(d);
  for (const SolverOptions& options : all_solvers(1e-8, 500)) {
    const Solved<double> s = solve(ctx, A, std::vector<double>(50, 1.0), options);
    EXPECT_NE(s.report.reason, Reason::converged) << name(options);
    EXPECT_NE(s.report.reason, Reason::running) << name(options);
  }
  std::vector<double> consistent(50, 1.0);
  consistent[7] = 0;
  for (const SolverOptions& options : all_solvers(1e-8, 500))
    EXPECT_EQ(solve(ctx, A, consistent, options).report.reason, Reason::converged) << name(options);
}

TEST_P(Failure, the_zero_matrix_ends) {
  Context ctx = context();
  const Csr<double> zero(5, Array(std::vector<std::int32_t>(6, 0)), Array<std::int32_t>(0), Array<double>(0));
  for (const SolverOptions& options : all_solvers()) {
    const Solved<double> s = solve(ctx, zero, std::vector<double>(5, 1.0), options);
    EXPECT_NE(s.report.reason, Reason::converged) << name(options);
    EXPECT_EQ(s.x, std::vector<double>(5)) << name(options);
  }
}

TEST_P(Failure, a_skew_symmetric_matrix_breaks_bicgstab_and_pcg_but_not_gmres) {
  Context ctx = context();
  const Csr<double> A = dense_matrix(2, [](int i, int j) { return static_cast<double>(j - i); });
  const std::vector<double> b{1, 0};
  EXPECT_EQ(solve(ctx, A, b, SolverOptions(PcgOptions{})).report.reason, Reason::not_positive_definite);
  EXPECT_NE(solve(ctx, A, b, SolverOptions(BicgstabOptions{})).report.reason, Reason::converged);
  EXPECT_EQ(solve(ctx, A, b, SolverOptions(GmresOptions{})).report.reason, Reason::converged);
}

TEST_P(Failure, divergence_is_found) {
  Context ctx = context();
  // far from normal: BiCGStab's residual grows without bound before anything else happens
  PcgOptions options;
  options.stop.divergence = 1.5;
  const Csr<double> A = dense_matrix(30, [](int i, int j) { return 1.0 / (i + j + 1); });
  std::vector<double> b(30, 0.0);
  b[29] = 1;
  const SolveReport report = solve(ctx, A, b, SolverOptions(options)).report;
  EXPECT_EQ(report.reason, Reason::diverged) << name(report.reason);
}

TEST_P(Failure, jacobi_names_the_row_that_it_cannot_invert) {
  Context ctx = context();
  std::vector<double> d(9, 1.0);
  d[4] = 0;
  const AnyMatrix<double> A(diagonal_matrix(d));
  try {
    make_preconditioner(ctx, PreconditionerOptions(JacobiOptions{}), A);
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find("a(4, 4) is 0 or missing"), std::string::npos) << e.what();
  }
}

/// ||b - A x|| / ||b||, what rounding in T may do to it: (row length + 2) eps ||  |A||x| + |b|  || / ||b||, and what
/// its backward error compares it with, ||A|| ||x|| / ||b|| + 1. In long double, whose exponents have room for squares.
struct Judged {
  double residual = 0, rounding = 0, scale = 0;
};
template <class T>
Judged judged(const Csr<T>& A, const std::vector<T>& x, const std::vector<T>& b) {
  using Long = std::complex<long double>;
  const Reference a = reference(A);
  std::vector<Long> r(b.begin(), b.end());
  std::vector<long double> size(b.size()), length(b.size(), 2);
  long double rhs = 0, residual = 0, rounding = 0, matrix = 0, solution = 0;
  for (const T& entry : x) solution += std::norm(Long(entry));
  for (std::size_t i = 0; i < b.size(); ++i) size[i] = std::abs(r[i]), rhs += size[i] * size[i];
  for (std::size_t k = 0; k < a.row.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row[k]);
    const Long product = Long(a.value[k]) * Long(x[static_cast<std::size_t>(a.col[k])]);
    r[i] -= product, size[i] += std::abs(product), length[i] += 1;
    matrix += std::norm(Long(a.value[k]));
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    const long double bound = length[i] * epsilon<T>() * size[i];
    residual += std::norm(r[i]), rounding += bound * bound;
  }
  return {static_cast<double>(std::sqrt(residual / rhs)), static_cast<double>(std::sqrt(rounding / rhs)),
          static_cast<double>(std::sqrt(matrix * solution / rhs) + 1)};
}

TEST_P(Failure, thousand_random_systems_are_never_called_converged_wrongly) {
  Context ctx = context();
  std::mt19937_64 engine(99);
  const int systems = ctx.on_cuda() ? 60 : 1000;
  for (int i = 0; i < systems; ++i) {
    const auto n = static_cast<std::int32_t>(1 + engine() % 12);
    const std::uint64_t seed = engine();
    Csr<double> A = i % 3 == 0 ? random_hpd<double>(seed, n, 4) : random_dominant<double>(seed, n, 4);
    if (i % 2)  // spoil it: indefinite, singular or badly scaled
      for (double& v : A.values().edit()) v *= engine() % 5 == 0 ? 0.0 : engine() % 3 == 0 ? -1e6 : 1.0;
    const auto b = random_vector<double>(seed + 1, n);
    const SolverOptions options = all_solvers(1e-10, 60)[static_cast<std::size_t>(i) % all_solvers().size()];
    const Solved<double> s = solve(ctx, A, b, options);
    const auto [residual, rounding, scale] = judged(A, s.x, b);
    EXPECT_NE(s.report.reason, Reason::running);
    if (s.report.reason == Reason::converged) {
      // two ways to add up b - A x may differ by its rounding, which badly scaled rows make visible
      EXPECT_LE(residual, 1e-10 + rounding) << "system " << i << " seed " << seed << " " << name(options);
    }
    EXPECT_LE(residual, 1 + 1e-12) << "x is worse than the guess: system " << i << " seed " << seed;
  }
}

/// Every solver in every form of its own.
std::vector<SolverOptions> every_form(double relative, int max_iterations) {
  std::vector<SolverOptions> all = all_solvers(relative, max_iterations);
  const StopOptions stop{.relative = relative};
  for (const Orthogonalization how : {Orthogonalization::cgs2, Orthogonalization::mgs})
    all.push_back(GmresOptions{.max_iterations = max_iterations, .stop = stop, .orthogonalization = how});
  for (const BasisPrecision kept : {BasisPrecision::float32, BasisPrecision::float16})
    all.push_back(GmresOptions{.max_iterations = max_iterations, .restart = 4, .stop = stop, .basis_precision = kept});
  all.push_back(FgmresOptions{.max_iterations = max_iterations, .restart = 5, .stop = stop});
  all.push_back(RichardsonOptions{.max_iterations = max_iterations, .relaxation = 0.5, .stop = stop});
  return all;
}

/// Well and badly conditioned, definite, dominant, indefinite and singular systems, whose matrix, rows and right-hand
/// side have any size that their type allows, from x = 0 and other guesses, to targets of every baseline, some of them
/// below rounding: a solve that says converged is right, another one keeps the better x.
TEST_P(FailureInEveryType, random_systems_of_all_magnitudes_are_never_called_converged_wrongly) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    using R = real_t<T>;
    const bool single = sizeof(R) == 4;
    const double target = single ? 1e-4 : 1e-10;
    const int most = single ? 100 : 660;  // exponents of 2: 1e-30 to 1e30, 1e-200 to 1e200
    std::mt19937_64 engine(123);
    const auto exponent = [&](int limit) {
      return static_cast<int>(engine() % (2 * static_cast<unsigned>(limit) + 1)) - limit;
    };
    const auto solvers = static_cast<int>(every_form(target, 60).size());
    const int systems = ctx.on_cuda() ? 600 : 1000 * solvers;
    int solved = 0, out_of_range = 0;
    for (int i = 0; i < systems; ++i) {
      const auto n = static_cast<std::int32_t>(1 + engine() % 12);
      const std::uint64_t seed = engine();
      Csr<T> A = i % 3 == 0 ? random_hpd<T>(seed, n, 4) : random_dominant<T>(seed, n, 4);
      const R of_matrix = std::ldexp(R(1), exponent(most)), of_rhs = std::ldexp(R(1), exponent(most));
      const bool spoiled = i % 4 == 1, rows_differ = i % 4 == 3;
      const auto offsets = A.row_offsets().host();
      const auto values = A.values().edit();
      for (std::int32_t row = 0; row < n; ++row) {
        const R of_row = rows_differ ? std::ldexp(R(1), exponent(20)) : R(1);
        for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]); ++k) {
          values[k] *= of_matrix * of_row;
          if (spoiled) values[k] *= engine() % 5 == 0 ? R(0) : engine() % 3 == 0 ? R(-1024) : R(1);
        }
      }
      std::vector<T> b = random_vector<T>(seed + 1, n);
      for (T& entry : b) entry *= of_rhs;
      std::vector<T> guess(b.size());
      const R of_guess = std::ldexp(of_rhs / of_matrix, exponent(10));
      if (i % 5 == 4 && of_guess > std::numeric_limits<R>::min() && of_guess < std::numeric_limits<R>::max() / 4) {
        guess = random_vector<T>(seed + 2, n);
        for (T& entry : guess) entry *= of_guess;
      }
      const double relative = i % 11 == 10 ? target * detail::unit_roundoff<T> : target;
      // in another order each round, so that each solver meets whatever else goes by i
      SolverOptions options = every_form(relative, 60)[static_cast<std::size_t>((i + i / solvers) % solvers)];
      const auto baseline = static_cast<Baseline>(i % 7 < 5 ? 0 : i % 7 - 4);
      std::visit([&](auto& o) { o.stop.baseline = baseline; }, options);
      const PreconditionerOptions M = i % 2 == 0 ? PreconditionerOptions(JacobiOptions{}) : NoPreconditioner{};
      const Solved<T> s = solve(ctx, A, b, options, M, guess);
      const std::string which = fmt::format("system {} seed {} {}, baseline {}: {}", i, seed, name(options),
                                            baseline_names[static_cast<std::size_t>(baseline)], name(s.report.reason));
      const auto [residual, rounding, scale] = judged(A, s.x, b);
      const Judged before = judged(A, guess, b);
      EXPECT_NE(s.report.reason, Reason::running) << which;
      if (s.report.reason == Reason::converged) {
        const double compared = baseline == Baseline::rhs                ? 1
                                : baseline == Baseline::initial_residual ? before.residual + before.rounding
                                                                         : scale;
        EXPECT_LE(residual, relative * compared + rounding) << which;
        ++solved;
      }
      out_of_range += s.report.reason == Reason::not_representable;
      // Of a matrix near a singular one, an x so large that its backward error is small may have any residual.
      if (s.report.reason != Reason::converged || baseline != Baseline::backward_error) {
        EXPECT_LE(residual, before.residual + before.rounding + rounding) << "x is worse than the guess: " << which;
      }
      EXPECT_TRUE(std::isfinite(residual)) << which;
    }
    EXPECT_GT(solved, systems / 3);
    if (!ctx.on_cuda()) {  // of fewer systems, there may be none
      EXPECT_GT(out_of_range, 0);
    }
  });
}

/// I + E with ||E|| <= 0.7 in the norms of rows and columns, so of condition below 6, and a target that the type cannot
/// reach: whatever ends the recurrence says nothing of the matrix.
TEST_P(FailureInEveryType, a_target_below_rounding_is_no_breakdown_of_a_well_conditioned_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double target = sizeof(real_t<T>) == 4 ? 1e-9 : 1e-18;
    const int matrices = ctx.on_cuda() ? 20 : 150;
    for (int i = 0; i < matrices; ++i) {
      const auto n = static_cast<std::int32_t>(2 + i % 40);
      const auto size = static_cast<std::size_t>(n);
      std::vector<std::int32_t> offsets{0}, columns;
      std::vector<T> values = random_vector<T>(1000 + static_cast<std::uint64_t>(i), n * n);
      std::vector<real_t<T>> sums(2 * size);
      for (std::size_t k = 0; k < values.size(); ++k)
        sums[k / size] += std::abs(values[k]), sums[size + k % size] += std::abs(values[k]);
      const real_t<T> most = *std::ranges::max_element(sums);
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] *= real_t<T>(0.7) / most;
        if (k / size == k % size) values[k] += T(1);
        columns.push_back(static_cast<std::int32_t>(k % size));
      }
      for (std::int32_t row = 1; row <= n; ++row) offsets.push_back(row * n);
      const Csr<T> A(n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
      const auto b = random_vector<T>(2000 + static_cast<std::uint64_t>(i), n);
      for (const SolverOptions& options : {SolverOptions(GmresOptions{}), SolverOptions(BicgstabOptions{})}) {
        SolverOptions with = options;
        std::visit([&](auto& o) { o.stop.relative = target; }, with);
        const SolveReport report = solve(ctx, A, b, with).report;
        EXPECT_TRUE(report.reason == Reason::limit_of_accuracy || report.reason == Reason::converged)
            << "matrix " << i << " " << name(options) << ": " << name(report.reason);
        EXPECT_LT(report.true_relative, 100 * std::numeric_limits<real_t<T>>::epsilon()) << i << name(options);
      }
    }
  });
}

/// A product with it would be a failure.
class Vast final : public Operator<double> {
 public:
  std::int64_t rows() const override { return std::int64_t{1} << 40; }
  void apply(Context&, Op, const Array<double>&, Array<double>&) const override { ADD_FAILURE(); }
};

TEST_P(Failure, vectors_beyond_memory_are_refused_before_the_loop) {
  Context ctx = context();
  const Vast A;
  const Identity<double> M;
  const Array<double> b(A.rows());
  Array<double> x(A.rows());
  for (const SolverOptions& options : all_solvers()) {
    const auto solver = make_solver<double>(options, A, M);
    try {
      solver->solve(ctx, b, x);
      FAIL() << name(options);
    } catch (const OutOfMemory& e) {
      EXPECT_EQ(e.asked, solver->bytes());
      EXPECT_LT(e.free, e.asked);
      EXPECT_EQ(std::string(e.what()).find("a solver of 1099511627776 rows needs"), 0u) << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Failure, backends, param_name);
INSTANTIATE_TEST_SUITE_P(, FailureInEveryType, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
