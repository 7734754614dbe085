#include "sparse/triangular/approximate.hpp"

#include <limits>

#include "apps/verify/references/approximate_solves.hpp"
#include "sparse/triangular/levels.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

using Plan = ApproximateMethod;

template <class T, class Offset>
std::vector<T> solution(Context& ctx, const Csr<T, Offset>& A, const Triangle& t, ApproximateOptions options, T alpha,
                        const std::vector<T>& b) {
  const ApproximateTriangularPlan<T, Offset> plan(ctx, A, t, options);
  Array<T> right(b), x(A.rows());
  plan.solve(ctx, alpha, right, x);
  plan.solve(ctx, alpha, right, right);
  EXPECT_EQ(contents(right), contents(x)) << "in place";
  return contents(x);
}

/// A dense matrix, entry (i, j) at i n + j.
using Square = std::vector<Z>;

Square dense(const Reference& A) {
  Square d(static_cast<std::size_t>(A.rows * A.cols));
  for (std::size_t k = 0; k < A.row.size(); ++k) d[static_cast<std::size_t>(A.row[k] * A.cols + A.col[k])] = A.value[k];
  return d;
}
Square times(const Square& a, const Square& b, std::size_t n) {
  Square c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}
Square moduli(Square a) {
  for (Z& value : a) value = std::abs(value);
  return a;
}
Square turned(const Square& a, std::size_t n, Op op) {
  Square c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      c[i * n + j] = op == Op::none ? a[i * n + j] : op == Op::transpose ? a[j * n + i] : std::conj(a[j * n + i]);
  return c;
}
/// op(T) as Eigen solves with it.
template <class T>
Reference triangle(const Csr<T>& A, const Triangle& t) {
  return reference(verify::triangle_of(verify::rows_of(A), t));
}
/// What a plan multiplies with, by unit vectors.
template <class T>
Square operator_of(Context& ctx, const Csr<T>& A, const Triangle& t, ApproximateOptions options) {
  const auto n = static_cast<std::size_t>(A.rows());
  const ApproximateTriangularPlan<T> plan(ctx, A, t, options);
  Square m(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<T> unit(n);
    unit[j] = T(1);
    const Array<T> b(unit);
    Array<T> x(A.rows());
    plan.solve(ctx, T(1), b, x);
    for (std::size_t i = 0; i < n; ++i) m[i * n + j] = Z(x.host()[i]);
  }
  return m;
}

using ApproximateSolves = OnBackendAndScalar;

/// As many steps as the triangle has levels leave the residual that substitution leaves.
TEST_P(ApproximateSolves, by_sweeps_end_after_as_many_as_there_are_levels) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const auto A = solvable(1, random_csr<T, std::int64_t>(2, shape));
      const auto b = random_vector<T>(5, A.rows());
      for (const Triangle& t : all_triangles()) {
        SCOPED_TRACE(shape.name + ", " + name(t));
        const LevelSchedule schedule(ctx, A.row_offsets(), A.col_indices(), t.fill);
        const std::int32_t steps = std::max(schedule.levels(), 1);
        expect_solves(A, t, T(-2), b, solution(ctx, A, t, {Plan::jacobi, steps}, T(-2), b));
      }
    }
  });
}

/// Each number of steps gives what the formula gives.
TEST_P(ApproximateSolves, by_sweeps_are_the_first_terms_of_the_series) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(3, random_dominant<T>(4, 60, 8));
    const std::vector<T> b = random_vector<T>(5, A.rows());
    for (const Triangle& t : all_triangles())
      for (std::int32_t steps = 1; steps <= 5; ++steps) {
        SCOPED_TRACE(name(t) + ", " + std::to_string(steps));
        const std::vector<T> found = solution(ctx, A, t, {Plan::jacobi, steps}, T(3), b);
        expect_near(found, verify::solve_by_sweeps(verify::rows_of(A), t, steps, T(3), verify::bounded<T>(b)));
      }
  });
}

/// M T is the identity inside the pattern of T, to the rounding of its terms, and M has no entry outside of it.
TEST_P(ApproximateSolves, by_inverses_meet_the_pattern) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t row_length : {1, 4, 12, 60})
      for (const Triangle& t : all_triangles()) {
        const Csr<T> A = solvable(6, random_dominant<T>(7, 70, row_length));
        const auto n = static_cast<std::size_t>(A.rows());
        const Square full = dense(triangle(A, {t.fill, t.diagonal}));
        const Square m = turned(operator_of(ctx, A, t, {Plan::isai, 0}), n, t.op);
        const Square product = times(m, full, n), size = times(moduli(m), moduli(full), n);
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            const Z expected = i == j ? 1.0 : 0.0;
            if (full[i * n + j] == 0.0) {
              ASSERT_EQ(m[i * n + j], 0.0) << name(t) << ": " << i << ", " << j;
            } else {
              ASSERT_LE(std::abs(product[i * n + j] - expected), 8 * 72 * epsilon<T>() * size[i * n + j].real())
                  << name(t) << ": " << i << ", " << j;
            }
          }
      }
  });
}

/// The inverse of a full triangle is the inverse; a correction squares the error.
TEST_P(ApproximateSolves, by_inverses_are_exact_for_full_triangles_and_get_better_by_corrections) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> full =
        solvable(8, random_csr<T>(9, {"full", 50, 50, [](std::int32_t, std::mt19937_64&) { return 50; }}));
    const Csr<T> A = solvable(10, poisson2d<T>(20));
    const std::vector<T> b = random_vector<T>(11, A.rows()), few(b.begin(), b.begin() + 50);
    for (const Triangle& t : all_triangles()) {
      // An inverse leaves a residual of its own rounding times the condition number, which is below 10 here.
      const auto exact = solve(triangle(full, t), to_reference(few));
      const auto found = solution(ctx, full, t, {Plan::isai, 0}, T(1), few);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LE(std::abs(Z(found[i]) - exact[i]), 1000 * epsilon<T>()) << name(t);
      const Reference judged = triangle(A, t);
      double before = 1;
      for (std::int32_t corrections = 0; corrections < 3; ++corrections) {
        const auto x = to_reference(solution(ctx, A, t, {Plan::isai, corrections}, T(2), b));
        auto right = to_reference(b);
        for (Z& value : right) value *= 2;
        const double left = relative_residual(judged, x, right);
        EXPECT_LT(left, std::max(0.2 * before, 100 * epsilon<T>())) << name(t) << ", " << corrections;
        before = left;
      }
    }
  });
}

/// The plan of the adjoint is the adjoint of the plan.
TEST_P(ApproximateSolves, of_the_adjoint_are_adjoint) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(12, random_dominant<T>(13, 300, 9));
    const std::vector<T> r = random_vector<T>(14, A.rows()), s = random_vector<T>(15, A.rows());
    const auto product = [](const std::vector<T>& a, const std::vector<T>& b) {
      Z sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(Z(a[i])) * Z(b[i]);
      return sum;
    };
    for (const Fill fill : {Fill::lower, Fill::upper})
      for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit})
        for (const ApproximateOptions& options :
             {ApproximateOptions{Plan::jacobi, 4}, {Plan::isai, 0}, {Plan::isai, 2}}) {
          const auto mr = solution(ctx, A, {fill, diagonal, Op::adjoint}, options, T(1), r),
                     ms = solution(ctx, A, {fill, diagonal}, options, T(1), s);
          // Entries are near 1, and each has some ten roundings a step.
          EXPECT_LE(std::abs(product(mr, s) - product(r, ms)), 300 * 100 * epsilon<T>());
        }
  });
}

TEST_P(ApproximateSolves, follow_new_values_repeat_and_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(16, random_dominant<T>(17, 1500, 9));
    Csr<T> other = A.clone();
    std::mt19937_64 engine(18);
    for (T& value : other.values().edit())
      value *= static_cast<real_t<T>>(0.5 + 0.1 * static_cast<double>(engine() % 9));
    const std::vector<T> b = random_vector<T>(19, A.rows());
    for (const Triangle& t : all_triangles())
      for (const ApproximateOptions& options :
           {ApproximateOptions{Plan::jacobi, 1}, {Plan::jacobi, 4}, {Plan::isai, 0}, {Plan::isai, 1}}) {
        SCOPED_TRACE(name(t) + ", " + std::to_string(options.steps));
        ApproximateTriangularPlan<T> plan(ctx, A, t, options);
        const Array<T> right(b);
        Array<T> first(A.rows()), x(A.rows());
        plan.solve(ctx, T(1), right, first);
        for (int run = 0; run < 10; ++run) {
          plan.solve(ctx, T(1), right, x);
          ASSERT_EQ(contents(x), contents(first)) << run;
        }
        run_skipped(ctx, [&] { plan.solve(ctx, T(7), right, x); });
        EXPECT_EQ(contents(x), contents(first));
        replay(ctx, [&] { plan.solve(ctx, T(1), right, x); });
        EXPECT_EQ(contents(x), contents(first));
        plan.update(ctx, other);
        plan.solve(ctx, T(1), right, x);
        EXPECT_EQ(contents(x), solution(ctx, other, t, options, T(1), b));
        replay(ctx, [&] { plan.update(ctx, A); });
        plan.solve(ctx, T(1), right, x);
        EXPECT_EQ(contents(x), contents(first));
      }
  });
}

INSTANTIATE_TEST_SUITE_P(, ApproximateSolves, backends_and_scalars, param_name);

using ApproximateFacts = OnBackend;

TEST_P(ApproximateFacts, zeros_on_the_diagonal) {
  Context ctx = context();
  Csr<double> A(4, Array<std::int32_t>{0, 1, 3, 4, 6}, Array<std::int32_t>{0, 0, 1, 1, 0, 3},
                Array<double>{2, 1, 0, 5, 1, 3});
  for (const Plan method : {Plan::jacobi, Plan::isai}) {
    ApproximateTriangularPlan<double> plan(ctx, A, {}, {method});
    EXPECT_EQ(plan.entries(), 3);
    EXPECT_EQ(plan.structural_zero(), 2);
    EXPECT_EQ(plan.numerical_zero(), 1);
    EXPECT_EQ(plan.zero_pivot(), 1);
    A.values().edit()[2] = 4;
    plan.update(ctx, A);
    EXPECT_EQ(plan.numerical_zero(), std::nullopt);
    EXPECT_EQ(plan.zero_pivot(), 2);
    A.values().edit()[2] = 0;
    const ApproximateTriangularPlan<double> unit(ctx, A, {Fill::lower, Diagonal::unit}, {method});
    EXPECT_EQ(unit.zero_pivot(), std::nullopt);
  }
}

/// NaN stays where arithmetic takes it.
TEST_P(ApproximateFacts, nan_reaches_what_depends_on_it) {
  Context ctx = context();
  const Csr<double> A = solvable(20, poisson2d<double>(20));
  std::vector<double> b(400, 1.0);
  b[210] = std::numeric_limits<double>::quiet_NaN();
  for (const ApproximateOptions& options : {ApproximateOptions{Plan::jacobi, 3}, {Plan::isai, 0}}) {
    const ApproximateTriangularPlan<double> plan(ctx, A, {}, options);
    const Array<double> right(b);
    Array<double> x(400);
    plan.solve(ctx, 1.0, right, x);
    EXPECT_TRUE(std::isnan(x.host()[210]) && std::isnan(x.host()[211]) && std::isnan(x.host()[230]));
    for (std::size_t i = 0; i < 210; ++i) EXPECT_TRUE(std::isfinite(x.host()[i])) << i;
  }
}

TEST_P(ApproximateFacts, what_does_not_fit_is_refused) {
  Context ctx = context();
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(ApproximateTriangularPlan<double>(ctx, wide, {}), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(4);
  EXPECT_THROW(ApproximateTriangularPlan<double>(ctx, A, {}, {Plan::jacobi, 0}), InvalidArgument);
  EXPECT_THROW(ApproximateTriangularPlan<double>(ctx, A, {}, {Plan::isai, -1}), InvalidArgument);
  ApproximateTriangularPlan<double> plan(ctx, A, {});
  Array<double> x(16), y(15);
  EXPECT_THROW(plan.solve(ctx, 1.0, x, y), ShapeMismatch);
  EXPECT_THROW(plan.solve(ctx, 1.0, y, x), ShapeMismatch);
  EXPECT_THROW(plan.update(ctx, poisson2d<double>(5)), ShapeMismatch);
  if (ctx.on_cuda()) {
    Context host = Context::host();
    EXPECT_NE(complaint<InvalidArgument>([&] { plan.solve(host, 1.0, x, x); }).find("made for CUDA"),
              std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(, ApproximateFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
