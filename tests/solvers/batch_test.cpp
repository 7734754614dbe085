#include "solvers/batch.hpp"

#include <limits>

#include "solvers/system/solve.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

/// A batch in CSR, whose entries a test may change.
template <class T>
struct BatchCase {
  std::int32_t rows, systems;
  Csr<T> A;
  std::vector<T> b;

  BatchCase(std::int32_t size, std::int32_t count, DiagonalCount diagonals)
      : rows(size),
        systems(count),
        A(std::get<Csr<T>>(generate<T>(BandedBatchOptions{size, count, diagonals, 1.3, 5}))),
        b(random_vector<T>(61, std::int64_t{size} * count)) {}

  /// f(column in the system, value) for the entries of row i of system j.
  template <class F>
  void change_row(std::int32_t j, std::int32_t i, const F& f) {
    const auto row = static_cast<std::size_t>(j * rows + i);
    const auto offsets = A.row_offsets().host();
    const auto values = A.values().edit();
    for (auto e = static_cast<std::size_t>(offsets[row]); e < static_cast<std::size_t>(offsets[row + 1]); ++e)
      f(A.col_indices().host()[e] - j * rows, values[e]);
  }
  void scale(std::int32_t j, real_t<T> of_matrix, real_t<T> of_rhs) {
    for (std::int32_t i = 0; i < rows; ++i) {
      change_row(j, i, [&](std::int32_t, T& value) { value *= of_matrix; });
      b[static_cast<std::size_t>(j * rows + i)] *= of_rhs;
    }
  }
  std::vector<T> part(const std::vector<T>& whole, std::int32_t j) const {
    return {whole.begin() + std::ptrdiff_t{j} * rows, whole.begin() + std::ptrdiff_t{j + 1} * rows};
  }
};

template <class T>
BandedOptions options_for(std::int32_t systems) {
  BandedOptions options;
  options.stop.relative = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-12;
  options.systems = systems;
  return options;
}

using BatchSolve = OnBackendAndScalar;

TEST_P(BatchSolve, solves_and_judges_every_system) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [rows, systems] : {std::pair{1, 7}, {2, 3}, {64, 40}, {5000, 2}, {100, 1}})
      for (const DiagonalCount diagonals : {DiagonalCount::three, DiagonalCount::five}) {
        const BatchCase<T> c(rows, systems, diagonals);
        const BandedOptions options = options_for<T>(systems);
        const Solved<T> s = solve(ctx, c.A, c.b, options);
        EXPECT_EQ(s.report.reason, Reason::converged) << rows << " " << s.report.true_relative;
        ASSERT_EQ(std::ssize(s.report.systems), systems);
        EXPECT_LE(relative_residual(reference(c.A), to_reference(s.x), to_reference(c.b)),
                  1.01 * options.stop.relative);
        for (const SystemResult& system : s.report.systems) {
          EXPECT_EQ(system.reason, Reason::converged);
          EXPECT_LE(system.true_relative, system.target_relative);
          EXPECT_LE(system.true_relative, s.report.true_relative);
        }
      }
  });
}

TEST_P(BatchSolve, leaves_neighbors_of_bad_systems_as_they_are) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const DiagonalCount diagonals : {DiagonalCount::three, DiagonalCount::five}) {
      BatchCase<T> c(30, 6, diagonals);
      const BandedOptions options = options_for<T>(6);
      const Solved<T> sound = solve(ctx, c.A, c.b, options);
      c.change_row(2, 12, [](std::int32_t, T& value) { value = T(0); });
      c.change_row(4, 29, [](std::int32_t, T& value) { value = std::numeric_limits<real_t<T>>::quiet_NaN(); });
      const Solved<T> s = solve(ctx, c.A, c.b, options);
      for (const std::int32_t j : {0, 1, 3, 5}) {
        EXPECT_EQ(s.report.systems[static_cast<std::size_t>(j)].reason, Reason::converged);
        EXPECT_EQ(c.part(s.x, j), c.part(sound.x, j)) << j;
      }
      const SystemResult &singular = s.report.systems[2], &broken = s.report.systems[4];
      EXPECT_EQ(singular.reason, Reason::zero_pivot);
      ASSERT_TRUE(singular.pivot_row.has_value());
      EXPECT_GE(*singular.pivot_row, 0);
      EXPECT_LT(*singular.pivot_row, 30);
      EXPECT_EQ(broken.reason, Reason::not_finite);
      EXPECT_TRUE(std::isnan(broken.true_relative));
      EXPECT_TRUE(broken.kept_initial_guess);
      EXPECT_EQ(c.part(s.x, 4), std::vector<T>(30));
      for (const T& entry : s.x) EXPECT_TRUE(std::isfinite(std::abs(entry)));
      EXPECT_EQ(s.report.worst_system, 4U);
      EXPECT_EQ(s.report.reason, Reason::not_finite);
    }
  });
}

TEST_P(BatchSolve, gives_every_system_a_scale_of_its_own) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    BatchCase<T> c(20, 5, DiagonalCount::three);
    const real_t<T> large = sizeof(real_t<T>) == 4 ? real_t<T>(1e15) : real_t<T>(1e150);
    c.scale(0, 1, large), c.scale(1, 1, 1 / large), c.scale(2, large, 1), c.scale(3, 1 / large, 1);
    const Solved<T> s = solve(ctx, c.A, c.b, options_for<T>(5));
    for (const SystemResult& system : s.report.systems) EXPECT_EQ(system.reason, Reason::converged);
    EXPECT_GT(s.report.systems[0].rhs_norm, 0.1 * static_cast<double>(large));
    EXPECT_LT(s.report.systems[1].rhs_norm, 100 / static_cast<double>(large));
  });
}

TEST_P(BatchSolve, starts_from_the_guess_and_knows_b_of_zeros) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    BatchCase<T> c(16, 3, DiagonalCount::five);
    c.scale(1, 1, 0);
    const BandedOptions options = options_for<T>(3);
    const Solved<T> first = solve(ctx, c.A, c.b, options);
    EXPECT_EQ(c.part(first.x, 1), std::vector<T>(16));
    const Solved<T> again = solve(ctx, c.A, c.b, options, NoPreconditioner{}, first.x);
    EXPECT_EQ(again.report.iterations, 0);
    EXPECT_EQ(again.x, first.x);
    const Solved<T> from_ones = solve(ctx, c.A, c.b, options, NoPreconditioner{}, std::vector<T>(48, T(1)));
    EXPECT_EQ(c.part(from_ones.x, 1), std::vector<T>(16));
    EXPECT_EQ(from_ones.report.reason, Reason::converged);
  });
}

TEST_P(BatchSolve, says_where_precision_ends) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BatchCase<T> c(50, 4, DiagonalCount::three);
    BandedOptions options = options_for<T>(4);
    options.stop.relative = 1e-30;
    const Solved<T> s = solve(ctx, c.A, c.b, options);
    EXPECT_EQ(s.report.reason, Reason::limit_of_accuracy);
    for (const SystemResult& system : s.report.systems) {
      EXPECT_LE(system.true_relative, 100 * epsilon<T>());
      EXPECT_GT(system.rounding_relative, 0);
    }
    options.max_iterations = 0;
    EXPECT_EQ(solve(ctx, c.A, c.b, options).report.reason, Reason::max_iterations);
    options.max_iterations = 10;
    const Solved<T> stopped = solve(ctx, c.A, c.b, options, NoPreconditioner{}, {}, [](const Sight&) { return false; });
    EXPECT_EQ(stopped.report.reason, Reason::interrupted);
  });
}

TEST_P(BatchSolve, takes_the_backward_error_of_every_system) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    BatchCase<T> c(40, 3, DiagonalCount::five);
    c.scale(1, 1000, 1);
    BandedOptions options = options_for<T>(3);
    options.stop.baseline = Baseline::backward_error;
    const Solved<T> s = solve(ctx, c.A, c.b, options);
    EXPECT_EQ(s.report.reason, Reason::converged);
    for (std::int32_t j = 0; j < 3; ++j) {
      double squares = 0, of_x = 0, of_b = 0;
      for (std::int32_t i = 0; i < c.rows; ++i)
        c.change_row(j, i, [&](std::int32_t, const T& value) { squares += std::norm(std::complex<double>(value)); });
      for (const T& entry : c.part(s.x, j)) of_x += std::norm(std::complex<double>(entry));
      for (const T& entry : c.part(c.b, j)) of_b += std::norm(std::complex<double>(entry));
      const double expected = std::sqrt(squares) * std::sqrt(of_x) + std::sqrt(of_b);
      EXPECT_NEAR(s.report.systems[static_cast<std::size_t>(j)].baseline, expected, 1e-4 * expected);
    }
  });
}

TEST_P(BatchSolve, is_judged_by_what_it_was_rounded_from) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    BatchCase<T> c(20, 3, DiagonalCount::three);
    GivenSystem<T> given{nullptr, Array<wide_t<T>>(std::vector<wide_t<T>>(c.b.begin(), c.b.end()))};
    auto wide = std::get<Csr<wide_t<T>>>(generate<wide_t<T>>(BandedBatchOptions{20, 3, DiagonalCount::three, 1.3, 5}));
    for (auto& value : wide.values().edit().subspan(58, 58)) value *= 1.5;  // system 1 was another one
    given.A = std::make_shared<const AnyMatrix<wide_t<T>>>(std::move(wide));
    SolveOptions options{options_for<T>(3), NoPreconditioner{}, NaturalOrdering{}, NoScaling{}, NoMatching{}};
    SolveFacts facts;
    PreparedSystem<T> system = prepare<T>(ctx, options, std::make_shared<const AnyMatrix<T>>(c.A.clone()), facts);
    system.given = std::make_shared<const GivenSystem<T>>(std::move(given));
    Array<T> x(std::vector<T>(60));
    solve_prepared<T>(ctx, options, system, Array<T>(c.b), x, facts, [] {}, {});
    ASSERT_EQ(facts.result.systems.size(), 3U);
    EXPECT_EQ(facts.result.systems[0].reason, Reason::converged);
    EXPECT_EQ(facts.result.systems[1].reason, Reason::stagnated);
    EXPECT_GT(facts.result.systems[1].true_relative, 0.01);
    EXPECT_EQ(facts.result.systems[2].reason, Reason::converged);
    EXPECT_EQ(facts.result.worst_system, 1U);
  });
}

TEST_P(BatchSolve, refuses_what_is_no_batch) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BatchCase<T> c(10, 3, DiagonalCount::three);
    EXPECT_EQ(complaint<InvalidArgument>([&] { solve(ctx, c.A, c.b, options_for<T>(4)); }),
              "solver banded: 30 rows are no 4 systems of one size");
    EXPECT_EQ(complaint<InvalidArgument>([&] { solve(ctx, c.A, c.b, options_for<T>(6)); }),
              "solver banded: banded: a(4, 5) (counted from 0) lies outside of 3 diagonals of its system; use another "
              "solver, or ordering: {type: rcm}, which brings entries near the diagonal");
  });
}

TEST_P(BatchSolve, measures_norms_of_systems) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const real_t<T> huge = std::numeric_limits<real_t<T>>::max() / 16, tiny = std::numeric_limits<real_t<T>>::min();
    std::vector<T> v(4 * 100, T(0));
    for (std::size_t i = 0; i < 100; ++i) v[i] = huge, v[100 + i] = tiny, v[200 + i] = T(i % 2 ? 3 : -4);
    v[350] = std::numeric_limits<real_t<T>>::quiet_NaN();
    const std::vector<double> norms = norms_of_systems(ctx, Array<T>(v), 4);
    EXPECT_NEAR(norms[0] / huge, 10, 1e-12);
    EXPECT_NEAR(norms[1] / tiny, 10, 1e-12);
    EXPECT_NEAR(norms[2], std::sqrt(1250.0), 1e-12);
    EXPECT_TRUE(std::isnan(norms[3]));
  });
}

INSTANTIATE_TEST_SUITE_P(, BatchSolve, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
