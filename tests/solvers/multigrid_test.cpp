// Multigrid: smoothers, the last level's inverse, and what a cycle has to be.
#include <cmath>
#include <numbers>

#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/precond/level_smoothers.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/order/coloring.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/solvers/levels.hpp"

namespace krill::test {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Of a cycle's contraction (Lottes 2023): x p^2 / (1 - p^2).
double contraction_bound(const SmootherPolynomial& polynomial, double x) {
  const double p = error_factor(polynomial, x);
  return x * p * p / (1 - p * p);
}

TEST(SmootherPolynomial, weights_make_all_maxima_of_the_bound_equal) {
  for (int degree = 1; degree <= 6; ++degree) {
    const SmootherPolynomial polynomial = fourth_kind_chebyshev(degree, 1);
    constexpr int points = 20'000;
    std::vector<double> bound;
    for (int i = 1; i <= points; ++i)
      bound.push_back(contraction_bound(polynomial, (1 - std::cos(std::numbers::pi * i / points)) / 2));
    std::vector<double> maxima{bound.front()};  // as x goes to 0
    for (std::size_t i = 1; i + 1 < bound.size(); ++i)
      if (bound[i] >= bound[i - 1] && bound[i] > bound[i + 1]) maxima.push_back(bound[i]);
    maxima.push_back(bound.back());
    ASSERT_EQ(std::ssize(maxima), degree + 1);
    for (const double maximum : maxima) EXPECT_NEAR(maximum, maxima.back(), 1e-6 * maxima.back()) << degree;
  }
}

TEST(SmootherPolynomial, without_weights_is_the_chebyshev_polynomial_of_the_fourth_kind) {
  for (int degree = 1; degree <= 6; ++degree) {
    SmootherPolynomial polynomial = fourth_kind_chebyshev(degree, 3);
    for (auto& step : polynomial.steps) step.weight = 1;
    for (const double x : {0.1, 0.7, 1.9, 2.95}) {
      const double angle = std::acos(1 - 2 * x / 3);  // W_k(cos a) = sin((k + 1/2) a) / sin(a / 2)
      EXPECT_NEAR(error_factor(polynomial, x),
                  std::sin((degree + 0.5) * angle) / std::sin(0.5 * angle) / (2 * degree + 1), 1e-13);
    }
  }
}

using Multigrid = OnBackendAndScalar;

/// Products and residuals of a matrix, without steps by their rows.
template <class T>
class WithoutSteps final : public Operator<T> {
 public:
  explicit WithoutSteps(const AnyMatrix<T>& A) : A_(A) {}
  std::int64_t rows() const override { return A_.rows(); }
  using Operator<T>::apply;
  void apply(Context& ctx, Op op, const Array<T>& x, Array<T>& y) const override { A_.apply(ctx, op, x, y); }

 private:
  MatrixOperator<T> A_;
};

TEST_P(Multigrid, smoothing_multiplies_errors_by_the_polynomial) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int32_t n = 50;
    std::vector<std::int32_t> offsets{0}, columns;
    std::vector<T> values, exact(n, T(1)), b;
    for (std::int32_t i = 0; i < n; ++i) {
      columns.push_back(i), offsets.push_back(i + 1);
      values.push_back(T(real_t<T>(i + 1) / real_t<T>(n)));
      b.push_back(values.back());
    }
    const AnyMatrix<T> A(Csr<T>(n, Array(offsets), Array(columns), Array(values)));
    const MatrixOperator<T> with_steps(A);
    const WithoutSteps<T> without_steps(A);
    ASSERT_TRUE(with_steps.takes_steps(ctx));
    ASSERT_FALSE(without_steps.takes_steps(ctx));
    for (int turn = 0; turn < 8; ++turn) {
      const int degree = 1 + turn / 2;
      const Operator<T>& products = turn % 2 ? static_cast<const Operator<T>&>(with_steps) : without_steps;
      PolynomialSmoother<T> smoother(products, Array<real_t<T>>(std::vector<real_t<T>>(n, 1)));
      const SmootherPolynomial polynomial = fourth_kind_chebyshev(degree, 1);
      smoother.set_polynomial(ctx, polynomial);
      const Array<T> rhs(b);
      Array<T> x(n), r(n);
      Array<double> dot(1);
      replay(ctx, [&] {
        smoother.smooth_from_zero(ctx, rhs, x);
        smoother.smooth(ctx, SmoothingTime::after, rhs, x, &dot);
      });
      double expected_dot = 0;
      for (std::int32_t i = 0; i < n; ++i) {
        const double eigenvalue = double(i + 1) / n, p = error_factor(polynomial, eigenvalue), expected = 1 - p * p;
        EXPECT_NEAR(std::abs(Z(x.host()[at(i)]) - Z(expected)), 0, 100 * degree * epsilon<T>());
        expected_dot += eigenvalue * expected;
      }
      EXPECT_NEAR(dot.host()[0], expected_dot, n * 100 * epsilon<T>());
      const auto residual = contents(smoother.residual(ctx, rhs, x));
      for (std::int32_t i = 0; i < n; ++i) {
        const double eigenvalue = double(i + 1) / n, p = error_factor(polynomial, eigenvalue);
        EXPECT_NEAR(std::abs(Z(residual[at(i)]) - Z(eigenvalue * p * p)), 0, 100 * degree * epsilon<T>());
      }
    }
  });
}

TEST_P(Multigrid, last_level_is_solved_by_its_inverse) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {1, 2, 31, 97}) {
      const AnyMatrix<T> A(random_dominant<T>(1, n, 9));
      const auto b = random_vector<T>(2, n);
      DenseInverse<T> inverse(n);
      inverse.set(ctx, A, nullptr);
      Array<T> x(n);
      const Array<T> rhs(b);
      replay(ctx, [&] { inverse.apply(ctx, rhs, x); });
      const auto expected = solve(reference(std::get<Csr<T>>(A)), to_reference(b));
      for (std::int32_t i = 0; i < n; ++i)  // n eps times the condition, which dominance bounds
        EXPECT_NEAR(std::abs(Z(x.host()[at(i)]) - expected[at(i)]), 0,
                    n * dominant_condition * epsilon<T>() * std::abs(expected[at(i)]) + 100 * epsilon<T>());
      EXPECT_EQ(inverse.facts().singular, 0);
    }
  });
}

/// Each row in the place of the one after it.
template <class T>
Csr<T> with_turned_rows(const Csr<T>& A) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t i = 0; i < A.rows(); ++i) {
    const std::size_t row = at((i + A.rows() - 1) % A.rows());
    for (std::int32_t k = A.row_offsets().host()[row]; k < A.row_offsets().host()[row + 1]; ++k)
      columns.push_back(A.col_indices().host()[at(k)]), values.push_back(A.values().host()[at(k)]);
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return {A.cols(), Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// On CUDA a thread eliminates several rows of it; with turned rows each pivot comes from another row.
TEST_P(Multigrid, inverse_of_many_rows_finds_what_was_multiplied) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [n, turned] : {std::pair{200, true}, {530, false}, {530, true}, {1030, false}, {1030, true}}) {
      if (!ctx.on_cuda() && n > (turned ? 200 : 530)) continue;  // these take the host long
      Csr<T> straight = random_dominant<T>(1, n, 9);
      const AnyMatrix<T> A(turned ? with_turned_rows(straight) : std::move(straight));
      const Array<T> expected(random_vector<T>(2, n));
      Array<T> b(n), x(n);
      MatrixOperator<T>(A).apply(ctx, expected, b);
      DenseInverse<T> inverse(n);
      inverse.set(ctx, A, nullptr);
      inverse.apply(ctx, b, x);
      for (std::int32_t i = 0; i < n; ++i)  // n eps times the condition, which dominance bounds
        EXPECT_NEAR(std::abs(Z(x.host()[at(i)]) - Z(expected.host()[at(i)])), 0, n * dominant_condition * epsilon<T>());
    }
  });
}

TEST_P(Multigrid, inverse_takes_pivots_from_other_rows_and_leaves_rows_without_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // {{0, 2}, {4, 0}} beside a row and a column of zeros
    const AnyMatrix<T> A(Csr<T>(3, {0, 1, 2, 2}, {1, 0}, {T(2), T(4)}));
    DenseInverse<T> inverse(3);
    inverse.set(ctx, A, nullptr);
    Array<T> x(3);
    inverse.apply(ctx, Array<T>{T(6), T(8), T(5)}, x);
    EXPECT_EQ(contents(x), (std::vector<T>{T(2), T(3), T(0)}));
    EXPECT_EQ(inverse.facts().singular, 1);
  });
}

TEST_P(Multigrid, inverse_of_a_neumann_problem_solves_what_has_a_solution) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int32_t n = 40;  // a path, whose ends are free
    std::vector<std::int32_t> offsets{0}, columns;
    std::vector<T> values, b(n, T(0));
    for (std::int32_t i = 0; i < n; ++i) {
      if (i > 0) columns.push_back(i - 1), values.push_back(T(-1));
      columns.push_back(i), values.push_back(T(real_t<T>(i > 0) + real_t<T>(i + 1 < n)));
      if (i + 1 < n) columns.push_back(i + 1), values.push_back(T(-1));
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
    b.front() = T(1), b.back() = T(-1);  // x falls by 1 a step
    const AnyMatrix<T> A(Csr<T>(n, Array(offsets), Array(columns), Array(values)));
    DenseInverse<T> inverse(n);
    const Array<T> ones(std::vector<T>(n, T(1)));
    inverse.set(ctx, A, &ones);
    EXPECT_GT(inverse.facts().shift, 0);
    Array<T> x(n);
    inverse.apply(ctx, Array<T>(b), x);
    const auto found = contents(x);
    for (std::int32_t i = 0; i + 1 < n; ++i)
      EXPECT_NEAR(std::abs(found[at(i)] - found[at(i + 1)] - T(1)), 0, n * n * 10 * epsilon<T>()) << i;
  });
}

/// A hierarchy with levels although the matrix is small.
MultigridOptions small_levels(MultigridMethod method, MultigridCycle cycle) {
  MultigridOptions o;
  o.method = method, o.cycle = cycle, o.coarse_rows = 10;
  return o;
}
constexpr MultigridMethod both_methods[]{MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation};

constexpr SmootherKind kinds_of_smoothers[]{SmootherKind::chebyshev, SmootherKind::l1_jacobi,
                                            SmootherKind::multicolor_gauss_seidel, SmootherKind::ilu0,
                                            SmootherKind::isai};

/// Levels with any smoother.
template <class T>
FinestLevel<T> finest(const AnyMatrix<T>& A, const MultigridOptions& o) {
  return {.A = A, .hermitian = true, .make_smoothing = smoothing_pairs<T>(o.smoother)};
}

TEST_P(Multigrid, cycles_are_linear_hermitian_and_positive) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(poisson2d<T>(17));
    const std::int64_t n = rows(A);
    const auto values_u = random_vector<T>(3, n), values_v = random_vector<T>(4, n);
    const Array<T> u(values_u), v(values_v);
    std::vector<MultigridOptions> tried;
    for (const MultigridMethod method : both_methods) {
      for (const MultigridCycle cycle : {MultigridCycle::v, MultigridCycle::w, MultigridCycle::f})
        tried.push_back(small_levels(method, cycle));
      for (const SmootherKind kind : kinds_of_smoothers) {
        tried.push_back(small_levels(method, MultigridCycle::w));
        tried.back().smoother.type = kind;
      }
    }
    for (const MultigridOptions& options : tried) {
      const Hierarchy<T> hierarchy(ctx, options, finest(A, options));
      EXPECT_GE(hierarchy.reports().size(), 3u);
      Array<T> Mu(n), Mv(n);
      Array<double> dot(1);
      hierarchy.cycle().apply(ctx, u, Mu, &dot);
      hierarchy.cycle().apply(ctx, v, Mv, nullptr);
      Z uMv = 0, Muv = 0, uMu = 0;
      double size = 0;
      for (std::size_t i = 0; i < values_u.size(); ++i) {
        uMv += std::conj(Z(values_u[i])) * Z(Mv.host()[i]);
        Muv += std::conj(Z(Mu.host()[i])) * Z(values_v[i]);
        uMu += std::conj(Z(values_u[i])) * Z(Mu.host()[i]);
        size += std::abs(Z(values_u[i])) * std::abs(Z(Mv.host()[i]));
      }
      EXPECT_NEAR(std::abs(uMv - Muv), 0, 200 * epsilon<T>() * size);
      EXPECT_GT(uMu.real(), 0);
      EXPECT_NEAR(uMu.imag(), 0, 200 * epsilon<T>() * size);
      if (hierarchy.cycle().takes_dot()) {
        EXPECT_NEAR(dot.host()[0], uMu.real(), 1e-6 * uMu.real());
      }
    }
  });
}

TEST_P(Multigrid, one_level_is_the_dense_solve) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_hpd<T>(5, 60, 7));
    const Hierarchy<T> hierarchy(ctx, MultigridOptions{}, {.A = A, .hermitian = true});
    ASSERT_EQ(hierarchy.reports().size(), 1u);
    EXPECT_EQ(hierarchy.reports()[0].format, "dense inverse");
    const auto b = random_vector<T>(6, 60);
    Array<T> x(60);
    hierarchy.cycle().apply(ctx, Array<T>(b), x, nullptr);
    const auto expected = solve(reference(std::get<Csr<T>>(A)), to_reference(b));
    for (std::size_t i = 0; i < b.size(); ++i)
      EXPECT_NEAR(std::abs(Z(x.host()[i]) - expected[i]), 0, 60 * dominant_condition * epsilon<T>());
  });
}

/// On CUDA the coarse levels of a V-cycle are one kernel.
TEST_P(Multigrid, cycles_are_those_of_the_host) {
  if (std::get<0>(GetParam()) == Backend::host) GTEST_SKIP() << "of CUDA";
  with_scalar([&]<class T>(T) {
    Context ctx = context(), host = Context::host();
    // No two entries are alike, so that rounding decides nothing.
    Csr<T> scaled = poisson2d<T>(60);
    const auto scales = random_vector<T>(9, scaled.rows());
    const auto scale = [&](std::int32_t i) { return 1 + std::abs(scales[at(i)]); };
    for (std::int32_t i = 0; i < scaled.rows(); ++i)
      for (std::int32_t k = scaled.row_offsets().host()[at(i)]; k < scaled.row_offsets().host()[at(i + 1)]; ++k)
        scaled.values().edit()[at(k)] *= T(scale(i) * scale(scaled.col_indices().host()[at(k)]));
    const AnyMatrix<T> A(std::move(scaled));
    const Array<T> b(random_vector<T>(8, rows(A)));
    for (const MultigridMethod method : both_methods)
      for (const MultigridCycle kind : {MultigridCycle::v, MultigridCycle::w})
        for (const int degree : {1, 2, 3}) {
          auto options = small_levels(method, kind);
          options.smoother.degree = degree;
          Hierarchy<T> made(ctx, options, {.A = A, .hermitian = true}),
              expected(host, options, {.A = A, .hermitian = true});
          ASSERT_GE(made.levels().size(), 4u);
          ASSERT_EQ(made.levels().size(), expected.levels().size());
          const std::vector<T> x = answer(ctx, made, b), y = answer(host, expected, b);
          double size = 0;
          for (const T& value : y) size = std::max(size, std::abs(Z(value)));
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_LE(std::abs(Z(x[i]) - Z(y[i])), 1e4 * epsilon<T>() * size) << "row " << i << ", degree " << degree;
          EXPECT_EQ(answer(ctx, made, b), x);
        }
  });
}

/// Kernels that take several steps, or the whole of small levels, round as those of single steps do.
TEST_P(Multigrid, cycles_have_the_bits_of_their_steps) {
  with_scalar([&]<class T>(T) {
    if constexpr (is_complex<T>) {
      GTEST_SKIP() << "sums of complex products are not rounded alike everywhere";
    } else {
      Context ctx = context();
      const AnyMatrix<T> A = generate<T>(Poisson3dOptions{.nx = 24});
      for (const MultigridMethod method : both_methods) {
        MultigridOptions options;
        options.method = method, options.coarse_rows = 100;
        const Hierarchy<T> made(ctx, options, {.A = A, .hermitian = true});
        const auto& levels = made.levels();
        ASSERT_GE(levels.size(), 3u);
        const auto visit = [&](const auto& next, std::size_t l, const Array<T>& b, Array<T>& x) -> void {
          const MultigridLevel<T>& level = *levels[l];
          if (level.dense) return level.dense->apply(ctx, b, x);
          level.smoother->smooth_from_zero(ctx, b, x);
          Array<T> r(levels[l + 1]->report.rows, "r"), e(r.size(), "e");
          level.transfer->restrict_to(ctx, level.smoother->residual(ctx, b, x), r);
          next(next, l + 1, r, e);
          level.transfer->add_correction(ctx, e, x);
          level.smoother->smooth(ctx, SmoothingTime::after, b, x);
        };
        const Array<T> b(random_vector<T>(8, rows(A)));
        Array<T> x(rows(A), "x");
        visit(visit, 0, b, x);
        EXPECT_EQ(answer(ctx, made, b), contents(x)) << static_cast<int>(method);
      }
    }
  });
}

TEST_P(Multigrid, chooses_plain_aggregates_on_grids_in_three_dimensions) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto chosen = [&](const AnyMatrix<T>& A) {
      MultigridOptions o;
      o.method = MultigridMethod::automatic, o.coarse_rows = 10;
      return Hierarchy<T>(ctx, o, FinestLevel<T>{A, nullptr, true, 1, nullptr}).options();
    };
    for (const Stencil3d stencil : {Stencil3d::seven, Stencil3d::twenty_seven}) {
      const MultigridOptions grid = chosen(generate<T>(Poisson3dOptions{.nx = 10, .stencil = stencil}));
      EXPECT_EQ(grid.method, MultigridMethod::aggregation) << static_cast<int>(stencil);
      EXPECT_EQ(grid.over_correction, 1.7);
    }
    EXPECT_EQ(chosen(poisson2d<T>(12)).method, MultigridMethod::smoothed_aggregation);
    EXPECT_EQ(chosen(generate<T>(Jumps3dOptions{.nx = 8, .block = 4})).method, MultigridMethod::smoothed_aggregation);
  });
}

TEST_P(Multigrid, cycles_repeat_bit_by_bit_and_in_a_captured_loop) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(poisson2d<T>(15));
    const Array<T> b(random_vector<T>(7, rows(A)));
    std::vector<MultigridOptions> tried;
    for (const MultigridCycle cycle : {MultigridCycle::v, MultigridCycle::w, MultigridCycle::f, MultigridCycle::k})
      tried.push_back(small_levels(MultigridMethod::aggregation, cycle));
    for (const SmootherKind kind : kinds_of_smoothers) {
      tried.push_back(small_levels(MultigridMethod::smoothed_aggregation, MultigridCycle::v));
      tried.back().smoother.type = kind;
    }
    for (const MultigridOptions& options : tried) {
      const Hierarchy<T> one(ctx, options, finest(A, options)), other(ctx, options, finest(A, options));
      Array<T> x(b.size()), y(b.size());
      one.cycle().apply(ctx, b, x, nullptr);
      replay(ctx, [&] { other.cycle().apply(ctx, b, y, nullptr); });
      EXPECT_EQ(contents(x), contents(y));
      fill(ctx, T(3), y);
      run_skipped(ctx, [&] { other.cycle().apply(ctx, b, y, nullptr); });
      EXPECT_EQ(contents(y), std::vector<T>(static_cast<std::size_t>(b.size()), T(3)));
    }
  });
}

TEST_P(Multigrid, a_wide_vector_is_narrowed_by_the_first_pass) {
  with_scalar([&]<class T>(T) {
    if constexpr (!std::is_same_v<T, wide_t<T>>) {
      Context ctx = context();
      const AnyMatrix<T> A(poisson2d<T>(15));
      const std::vector<wide_t<T>> wide = random_vector<wide_t<T>>(7, rows(A));
      std::vector<T> narrow;
      for (const wide_t<T>& value : wide) narrow.push_back(T(value));
      const MultigridOptions options = small_levels(MultigridMethod::aggregation, MultigridCycle::v);
      const Hierarchy<T> hierarchy(ctx, options, finest(A, options));
      ASSERT_TRUE(hierarchy.cycle().takes_wide());
      const Array<wide_t<T>> from(wide);
      const Array<T> b(narrow);
      Array<T> x(b.size()), y(b.size()), to(b.size());
      hierarchy.cycle().apply(ctx, b, x, nullptr);
      hierarchy.cycle().apply(ctx, to, y, nullptr, {&from, &to});
      EXPECT_EQ(contents(to), narrow);
      EXPECT_EQ(contents(x), contents(y));
    }
  });
}

/// A + c I: the strong graph and the aggregates of the finest level stay, the smoothing of interpolation does not.
template <class T>
AnyMatrix<T> shifted_poisson(double c) {
  Csr<T> A = poisson2d<T>(13);
  const auto offsets = A.row_offsets().host(), columns = A.col_indices().host();
  const std::span<T> values = A.values().edit();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (std::int32_t k = offsets[at(i)]; k < offsets[at(i) + 1]; ++k)
      if (columns[at(k)] == i) values[at(k)] += T(static_cast<real_t<T>>(c));
  return A;
}

/// A cycle of two levels by the parts of one hierarchy on the finest, and of another on the last level.
template <class T>
std::vector<T> two_levels(Context& ctx, const Hierarchy<T>& upper, const Hierarchy<T>& lower, const Array<T>& b) {
  const auto &finest = *upper.levels()[0], &last = *lower.levels()[1];
  const Transfer<T>& transfer = *lower.levels()[0]->transfer;
  Array<T> x(b.size()), r(last.report.rows), e(last.report.rows);
  finest.smoother->smooth_from_zero(ctx, b, x);
  transfer.restrict_to(ctx, finest.smoother->residual(ctx, b, x), r);
  last.dense->apply(ctx, r, e);
  transfer.add_correction(ctx, e, x);
  finest.smoother->smooth(ctx, SmoothingTime::after, b, x);
  return contents(x);
}

/// What stays is what `reuse` says: aggregates alone give the hierarchy that is made anew, bit by bit.
TEST_P(Multigrid, new_values_change_what_reuse_does_not_keep) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> other(shifted_poisson<T>(0.5));
    const Array<T> b(random_vector<T>(8, rows(other)));
    for (const MultigridMethod method : both_methods)
      for (const auto reuse : {HierarchyReuse::aggregates, HierarchyReuse::interpolation, HierarchyReuse::hierarchy}) {
        auto options = small_levels(method, MultigridCycle::v);
        options.reuse = reuse, options.coarse_rows = 60;
        AnyMatrix<T> A(poisson2d<T>(13));
        Hierarchy<T> hierarchy(ctx, options, {.A = A, .hermitian = true});
        const AnyMatrix<T> former(poisson2d<T>(13));
        const Hierarchy<T> before(ctx, options, {.A = former, .hermitian = true}),
            fresh(ctx, options, {.A = other, .hermitian = true});
        ASSERT_EQ(hierarchy.levels().size(), 2u);
        std::get<Csr<T>>(A).values() = std::get<Csr<T>>(other).values().clone();
        hierarchy.update(ctx, A);
        const std::vector<T> found = answer(ctx, hierarchy, b);
        if (reuse == HierarchyReuse::hierarchy) {
          EXPECT_EQ(found, two_levels(ctx, fresh, before, b));
        } else if (reuse == HierarchyReuse::aggregates || method == MultigridMethod::aggregation) {
          EXPECT_EQ(found, answer(ctx, fresh, b));
        } else {
          EXPECT_NE(found, answer(ctx, fresh, b));
          const auto &kept = dynamic_cast<const MatrixTransfer<T>&>(*hierarchy.levels()[0]->transfer).prolongation(),
                     &made = dynamic_cast<const MatrixTransfer<T>&>(*before.levels()[0]->transfer).prolongation();
          EXPECT_EQ(contents(std::get<Csr<T>>(kept).values()), contents(std::get<Csr<T>>(made).values()));
        }
        EXPECT_EQ(hierarchy.reports()[0].max_eigenvalue, fresh.reports()[0].max_eigenvalue);
      }
    Hierarchy<T> fixed(ctx, small_levels(MultigridMethod::aggregation, MultigridCycle::v),
                       {.A = other, .hermitian = true});
    EXPECT_NE(complaint<InvalidArgument>([&] { fixed.update(ctx, other); }).find("reuse nothing"), std::string::npos);
  });
}

/// A preconditioner that smooths follows the values of its level.
TEST_P(Multigrid, new_values_reach_smoothers_that_are_preconditioners) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> other(shifted_poisson<T>(0.5));
    const Array<T> b(random_vector<T>(8, rows(other)));
    for (const SmootherKind kind : kinds_of_smoothers) {
      auto options = small_levels(MultigridMethod::smoothed_aggregation, MultigridCycle::v);
      options.reuse = HierarchyReuse::aggregates, options.coarse_rows = 60, options.smoother.type = kind;
      AnyMatrix<T> A(poisson2d<T>(13));
      Hierarchy<T> hierarchy(ctx, options, finest(A, options));
      std::get<Csr<T>>(A).values() = std::get<Csr<T>>(other).values().clone();
      hierarchy.update(ctx, A);
      EXPECT_EQ(answer(ctx, hierarchy, b), answer(ctx, Hierarchy<T>(ctx, options, finest(other, options)), b));
    }
  });
}

/// Two sweeps of Gauss and Seidel, row by row in the order of colors, and back.
TEST_P(Multigrid, sweeps_by_color_are_those_of_the_textbook) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_hpd<T>(9, 70, 6));
    const Reference R = reference(std::get<Csr<T>>(A));
    const auto values = random_vector<T>(10, R.rows);
    const Array<T> b(values);
    const MatrixOperator<T> products(A);
    PreconditionedSmoother<T> smoother(products,
                                       smoothing_pairs<T>({.type = SmootherKind::multicolor_gauss_seidel})(ctx, A), 1);
    Array<T> x(b.size());
    replay(ctx, [&] {
      smoother.smooth_from_zero(ctx, b, x);
      smoother.smooth(ctx, SmoothingTime::after, b, x);
    });
    const Coloring colors = color(ctx, std::get<Csr<T>>(A));
    const auto order = colors.ordering.order().host();
    std::vector<Z> expected(values.size());
    const auto relax = [&](std::int32_t row) {
      Z sum(values[at(row)]), diagonal = 0;
      for (std::size_t k = 0; k < R.value.size(); ++k)
        if (R.row[k] == row) {
          if (R.col[k] == row)
            diagonal = R.value[k];
          else
            sum -= R.value[k] * expected[at(R.col[k])];
        }
      expected[at(row)] = sum / diagonal;
    };
    for (const std::int32_t row : order) relax(row);
    for (std::size_t k = order.size(); k-- > 0;) relax(order[k]);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(std::abs(Z(x.host()[i]) - expected[i]), 0, 70 * dominant_condition * epsilon<T>()) << i;
  });
}

TEST_P(Multigrid, smoothers_that_are_preconditioners_want_somebody_who_makes_them) {
  Context ctx = context();
  auto options = small_levels(MultigridMethod::aggregation, MultigridCycle::v);
  options.smoother.type = SmootherKind::ilu0;
  const AnyMatrix<double> A(poisson2d<double>(5));
  EXPECT_THROW(Hierarchy<double>(ctx, options, {.A = A, .hermitian = true}), InvalidArgument);
}

/// A captured loop can do it.
TEST_P(Multigrid, new_values_need_no_allocation_and_no_wait) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    AnyMatrix<T> A(poisson2d<T>(13));
    const Array<T> b(random_vector<T>(8, rows(A)));
    for (const MultigridMethod method : both_methods)
      for (const auto reuse : {HierarchyReuse::aggregates, HierarchyReuse::interpolation, HierarchyReuse::hierarchy})
        for (const auto& [smoother, steps] :
             {std::pair{SmootherKind::chebyshev, 0}, {SmootherKind::chebyshev, 10}, {SmootherKind::l1_jacobi, 10}}) {
          auto options = small_levels(method, MultigridCycle::v);
          options.reuse = reuse;
          options.smoother = {.type = smoother, .eigenvalue_steps = steps};
          Hierarchy<T> hierarchy(ctx, options, {.A = A, .hermitian = true});
          const std::vector<T> before = answer(ctx, hierarchy, b);
          replay(ctx, [&] { hierarchy.recompute(ctx, A); });
          hierarchy.check();
          EXPECT_EQ(answer(ctx, hierarchy, b), before);
        }
  });
}

TEST_P(Multigrid, new_values_that_are_not_finite_are_named) {
  Context ctx = context();
  auto options = small_levels(MultigridMethod::smoothed_aggregation, MultigridCycle::v);
  for (const int steps : {0, 10}) {
    options.reuse = HierarchyReuse::aggregates, options.smoother.eigenvalue_steps = steps;
    AnyMatrix<double> A(poisson2d<double>(13));
    Hierarchy<double> hierarchy(ctx, options, {.A = A, .hermitian = true});
    std::get<Csr<double>>(A).values().edit()[0] = std::numeric_limits<double>::quiet_NaN();
    const std::string said = complaint<InvalidArgument>([&] { hierarchy.update(ctx, A); });
    EXPECT_NE(said.find("row 0 of level 0"), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(, Multigrid, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
