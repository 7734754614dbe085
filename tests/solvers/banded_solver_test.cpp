#include "solvers/system/solve.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

/// Random entries at most `far` places from the diagonal.
template <class T>
Csr<T> random_band(std::uint64_t seed, std::int32_t rows, int far) {
  const std::vector<T> numbers = random_vector<T>(seed, std::int64_t{rows} * (2 * far + 1));
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> values;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = std::max(0, i - far); j <= std::min(rows - 1, i + far); ++j) {
      cols.push_back(j);
      values.push_back(numbers[static_cast<std::size_t>(i * (2 * far + 1) + j - i + far)]);
    }
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return Csr<T>(rows, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values));
}

using BandedSystems = OnBackendAndScalar;

TEST_P(BandedSystems, solves_what_needs_pivoting) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    BandedOptions options;
    // random matrices of a few hundred rows have condition numbers of some 1e4
    options.stop.relative = sizeof(real_t<T>) == 4 ? 1e-3 : 1e-10;
    for (const int far : {0, 1, 2})
      for (const std::int32_t rows : {1, 2, 3, 5, 300}) {
        const Csr<T> A = random_band<T>(11, rows, far);
        const auto b = random_vector<T>(12, rows);
        const Solved<T> s = solve(ctx, A, b, options);
        EXPECT_EQ(s.report.reason, Reason::converged) << far << " " << rows << " " << s.report.true_relative;
        EXPECT_LE(s.report.iterations, 3);
        EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), 1.01 * options.stop.relative);
      }
  });
}

TEST_P(BandedSystems, takes_any_format_and_many_right_hand_sides) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(Poisson1dOptions{.nx = 200});
    const AnyMatrix<T> stored =
        with_csr(ctx, A, [&](const auto& csr) { return convert_format(ctx, csr, Format::sell); });
    const MatrixOperator<T> op(stored);
    const Identity<T> none;
    const auto solver = make_solver<T>(BandedOptions{}, op, none);
    for (const std::uint64_t seed : {21, 22, 23}) {
      const Array<T> b(random_vector<T>(seed, 200));
      Array<T> x(std::vector<T>(200));
      const SolveReport report = solver->solve(ctx, b, x);
      const double small = sizeof(real_t<T>) == 4 ? 1e-2 : 1e-8;
      EXPECT_LE(report.true_relative, small);
    }
    EXPECT_GE(solver->bytes(), 3 * 200 * sizeof(T));
  });
}

TEST_P(BandedSystems, reports_the_row_of_a_zero_pivot) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // row 3 is zero
    const Csr<T> A(5, Array<std::int32_t>{0, 2, 4, 6, 6, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 3, 4},
                   Array<T>{2, 1, 1, 3, 1, 1, 1});
    const Solved<T> s = solve(ctx, A, std::vector<T>(5, T(1)), BandedOptions{});
    EXPECT_EQ(s.report.reason, Reason::zero_pivot);
    ASSERT_TRUE(s.report.pivot_row.has_value());
    EXPECT_GE(*s.report.pivot_row, 2);
    EXPECT_LE(*s.report.pivot_row, 4);
    for (const T& entry : s.x) EXPECT_TRUE(std::isfinite(std::abs(entry)));
  });
}

TEST_P(BandedSystems, refuses_what_has_more_diagonals_unless_an_ordering_helps) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> wide = random_band<T>(31, 10, 3);
    EXPECT_EQ(complaint<InvalidArgument>([&] { solve(ctx, wide, random_vector<T>(1, 10), BandedOptions{}); }),
              "solver banded: banded: a(0, 3) (counted from 0) lies outside of 5 diagonals; use another solver, or "
              "ordering: {type: rcm}, which brings entries near the diagonal");
    // A ring of 40 unknowns: 0 and 39 are neighbors.
    std::vector<std::int32_t> offsets{0}, cols;
    std::vector<T> values;
    for (std::int32_t i = 0; i < 40; ++i) {
      std::vector<std::int32_t> row{(i + 39) % 40, i, (i + 1) % 40};
      std::ranges::sort(row);
      for (const std::int32_t j : row) cols.push_back(j), values.push_back(j == i ? T(3) : T(-1));
      offsets.push_back(static_cast<std::int32_t>(cols.size()));
    }
    const AnyMatrix<T> ring(Csr<T>(40, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values)));
    const Array<T> b(random_vector<T>(32, 40));
    Array<T> x(std::vector<T>(40));
    SolveOptions options{.solver = BandedOptions{}};
    std::visit([](auto& o) { o.stop.relative = 1e-5; }, options.solver);
    const SystemReport report = krill::solve(ctx, ring, b, x, options);
    EXPECT_EQ(report.result.reason, Reason::converged);
    EXPECT_TRUE(std::holds_alternative<RcmOrdering>(report.options.ordering));
  });
}

TEST_P(BandedSystems, is_what_auto_takes_for_three_diagonals) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_band<T>(41, 500, 1));
    const Array<T> b(random_vector<T>(42, 500));
    Array<T> x(std::vector<T>(500));
    const SystemReport report = krill::solve(ctx, A, b, x, {.on_failure = OnFailure::stop});
    EXPECT_TRUE(std::holds_alternative<BandedOptions>(report.options.solver));
    EXPECT_TRUE(std::holds_alternative<NoPreconditioner>(report.options.preconditioner));
    // A singular one: solutions exist, and pcg finds one.
    std::vector<std::int32_t> offsets{0}, cols;
    std::vector<T> values;
    for (std::int32_t i = 0; i < 50; ++i) {
      for (std::int32_t j = std::max(0, i - 1); j <= std::min(49, i + 1); ++j) {
        cols.push_back(j);
        values.push_back(j != i ? T(-1) : i == 0 || i == 49 ? T(1) : T(2));
      }
      offsets.push_back(static_cast<std::int32_t>(cols.size()));
    }
    const AnyMatrix<T> neumann(Csr<T>(50, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values)));
    std::vector<T> balanced(50);
    balanced[3] = T(1), balanced[30] = T(-1);
    Array<T> y(std::vector<T>(50));
    const SystemReport singular = krill::solve(ctx, neumann, Array<T>(balanced), y);
    EXPECT_FALSE(std::holds_alternative<BandedOptions>(singular.options.solver));
  });
}

TEST_P(BandedSystems, wants_a_stored_matrix) {
  with_scalar([&]<class T>(T) {
    struct Doubling final : Operator<T> {
      std::int64_t rows() const override { return 3; }
      void apply(Context&, Op, const Array<T>&, Array<T>&) const override {}
    } op;
    const Identity<T> none;
    EXPECT_EQ(complaint<InvalidArgument>([&] { make_solver<T>(BandedOptions{}, op, none); }),
              "solver banded: the operator has no stored matrix; use another solver");
  });
}

INSTANTIATE_TEST_SUITE_P(, BandedSystems, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
