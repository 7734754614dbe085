#include "sparse/factor/fixed_point.hpp"

#include <limits>

#include "tests/factor/factors.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

/// Sweeps until every entry is final: one more than the entries that it depends on need.
template <class T, class Offset>
std::int32_t enough(const Csr<T, Offset>& A, Factorization kind) {
  const verify::Rows<T> a = verify::rows_of(A);
  std::vector<std::int32_t> depth(a.value.size());
  std::int32_t deepest = 1;
  a.for_places([&](std::int32_t i, std::size_t place) {
    const std::int32_t j = a.col[place];
    if (kind == Factorization::ic0 && j > i) return;
    const auto pivot = a.find(j, j);
    std::int32_t most = j < i && pivot ? depth[*pivot] : 0;
    verify::for_terms(a, kind, i, j, [&](std::size_t left, std::size_t right) {
      most = std::max({most, depth[left], depth[right]});
    });
    deepest = std::max(deepest, depth[place] = most + 1);
  });
  return deepest;
}

/// The norm of what expect_factors looks at; IC(0) counts what mirrors the lower triangle.
template <class T>
double judged_residual(const Csr<T>& A, const Csr<T>& factor, Factorization kind) {
  const verify::Rows<T> a = verify::rows_of(A);
  const auto equations = verify::factor_equations<T>(a, factor.values().host(), kind);
  double sum = 0;
  a.for_places([&](std::int32_t i, std::size_t k) {
    const bool is_mirrored = kind == Factorization::ic0 && a.col[k] < i;
    sum += std::norm(to_z(equations.left[k] - equations.right[k].value)) * (is_mirrored ? 2 : 1);
  });
  return std::sqrt(sum);
}

using FixedPoint = OnBackendAndScalar;

TEST_P(FixedPoint, is_the_incomplete_factor_for_nasty_shapes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const auto A = solvable(1, random_csr<T, std::int64_t>(2, shape), true);
      if (A.nnz() > 30'000) continue;  // sweeps enough for them take a while
      for (const Factorization kind : both_kinds) {
        SCOPED_TRACE(shape.name + (kind == Factorization::ic0 ? ", ic0" : ", ilu0"));
        const FixedPointFactor<T, std::int64_t> factor(ctx, A, kind, enough(A, kind));
        EXPECT_EQ(factor.zero_pivot(), std::nullopt);
        EXPECT_EQ(factor.not_finite(), std::nullopt);
        expect_factors(A, factor.matrix(), kind);
      }
    }
  });
}

/// Twice as many sweeps as there are levels, for symmetric patterns; on the host the sums have the order of
/// IncompleteFactor's, so the bits are its.
TEST_P(FixedPoint, is_final_after_twice_as_many_sweeps_as_levels) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Csr<T>& A : {poisson2d<T>(25).clone(), random_hpd<T>(3, 300, 5), random_hpd<T>(4, 120, 30)})
      for (const Factorization kind : both_kinds) {
        const Csr<T> positive = solvable(7, A, true);
        const LevelSchedule schedule(ctx, positive.row_offsets(), positive.col_indices(), Fill::lower);
        const FixedPointFactor<T> factor(ctx, positive, kind, 2 * schedule.levels());
        expect_factors(positive, factor.matrix(), kind);
        if (ctx.on_cuda()) continue;
        const IncompleteFactor<T> exact(ctx, positive, kind);
        EXPECT_EQ(contents(factor.matrix().values()), contents(exact.matrix().values()));
      }
  });
}

TEST_P(FixedPoint, residual_is_the_judges_and_falls_with_every_sweep) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(20);
    double size = 0;
    for (const T value : contents(A.values())) size += std::norm(Z(value));
    for (const Factorization kind : both_kinds) {
      double before = std::sqrt(size);
      for (const std::int32_t sweeps : {1, 2, 3, 4, 5}) {
        const FixedPointFactor<T> factor(ctx, A, kind, sweeps);
        const double found = factor.residual_norm(ctx, A);
        // Of each of the differences no more than some roundings of terms of the size of A's greatest entry.
        EXPECT_NEAR(found, judged_residual(A, factor.matrix(), kind), 16 * epsilon<T>() * std::sqrt(size));
        EXPECT_LT(found, before) << sweeps;
        before = found;
      }
    }
  });
}

TEST_P(FixedPoint, repeats_follows_new_values_and_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(8, random_hpd<T>(9, 600, 9), true);
    Csr<T> other = A.clone();
    for (T& value : other.values().edit()) value *= T(4);
    for (const Factorization kind : both_kinds) {
      FixedPointFactor<T> factor(ctx, A, kind, 3);
      const auto first = contents(factor.matrix().values());
      for (int run = 0; run < 20; ++run) {
        factor.update(ctx, A);
        ASSERT_EQ(contents(factor.matrix().values()), first) << run;
      }
      factor.update(ctx, other);
      const auto second = contents(factor.matrix().values());
      EXPECT_EQ(second, contents(FixedPointFactor<T>(ctx, other, kind, 3).matrix().values()));
      run_skipped(ctx, [&] { factor.update(ctx, A); });
      EXPECT_EQ(contents(factor.matrix().values()), second);
      replay(ctx, [&] { factor.update(ctx, A); });
      EXPECT_EQ(contents(factor.matrix().values()), first);
    }
  });
}

/// A factor tells all that its next sweep needs: three sweeps and two from there are five.
TEST_P(FixedPoint, refining_goes_on_where_sweeps_ended) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(12, random_hpd<T>(13, 300, 9), true);
    for (const Factorization kind : both_kinds) {
      const FixedPointFactor<T> begun(ctx, A, kind, 3), whole(ctx, A, kind, 5);
      auto rest = FixedPointFactor<T>::analyze(ctx, A, kind, 2);
      rest.refine(ctx, A, begun.matrix().values());
      EXPECT_EQ(contents(rest.matrix().values()), contents(whole.matrix().values()));
      EXPECT_THROW(rest.refine(ctx, A, Array<T>(3)), ShapeMismatch);
    }
  });
}

/// A scaling of rows and columns by powers of two goes through the sweeps without a rounding.
TEST_P(FixedPoint, does_not_know_the_scale_of_the_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(20, random_hpd<T>(21, 200, 7), true);
    Csr<T> scaled = A.clone();
    const auto factor_of = [](std::int32_t i) { return static_cast<real_t<T>>(std::ldexp(1.0, 2 * (i % 7) - 6)); };
    const auto offsets = contents(A.row_offsets());
    const auto for_places = [&](auto&& f) {
      for (std::int32_t i = 0; i < A.rows(); ++i)
        for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
          f(i, A.col_indices().host()[k], k);
    };
    const auto values = scaled.values().edit();
    for_places([&](std::int32_t i, std::int32_t j, std::size_t k) { values[k] *= factor_of(i) * factor_of(j); });
    const FixedPointFactor<T> plain(ctx, A, Factorization::ic0, 3), found(ctx, scaled, Factorization::ic0, 3);
    const auto before = contents(plain.matrix().values()), after = contents(found.matrix().values());
    for_places([&](std::int32_t i, std::int32_t j, std::size_t k) {
      if (j <= i) {
        ASSERT_EQ(after[k], before[k] * factor_of(i)) << i << ", " << j;
      }
    });
  });
}

TEST_P(FixedPoint, ends_on_nan) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = solvable(10, random_hpd<T>(11, 400, 12), true);
    const auto offsets = contents(A.row_offsets());
    for (auto k = static_cast<std::size_t>(offsets[100]); k < static_cast<std::size_t>(offsets[101]); ++k)
      if (A.col_indices().host()[k] == 100) A.values().edit()[k] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    for (const Factorization kind : both_kinds) {
      const FixedPointFactor<T> factor(ctx, A, kind, 3);
      EXPECT_EQ(factor.not_finite(), 100);
      EXPECT_TRUE(std::isnan(factor.residual_norm(ctx, A)));
    }
  });
}

/// Row by row and by sweeps: diagonal matrices are all pivots.
TEST_P(FixedPoint, boosts_keep_the_phase_where_they_are_asked_to) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::vector<Z> pivots{2, -0.004, 0.005, 0, -0.005, -1}, expected{2, -0.5, 0.5, 0.5, -0.5, -1};
    if (is_complex<T>) pivots[4] = Z(0.003, -0.004), expected[4] = Z(0.3, -0.4);
    std::vector<T> diagonal;
    for (const Z pivot : pivots)
      if constexpr (is_complex<T>)
        diagonal.emplace_back(pivot);
      else
        diagonal.push_back(static_cast<T>(pivot.real()));
    const Csr<T> A(6, Array<std::int32_t>{0, 1, 2, 3, 4, 5, 6}, Array<std::int32_t>{0, 1, 2, 3, 4, 5},
                   Array<T>(diagonal));
    const PivotBoost<T> boost{0.0051, T(real_t<T>(0.5)), true};
    const auto expect_boosted = [&](const auto& factor) {
      EXPECT_EQ(factor.boosts(), 4);
      EXPECT_EQ(factor.zero_pivot(), std::nullopt);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_LE(std::abs(Z(factor.matrix().values().host()[i]) - expected[i]), 4 * epsilon<T>()) << i;
    };
    expect_boosted(IncompleteFactor<T>(ctx, A, Factorization::ilu0, boost));
    expect_boosted(FixedPointFactor<T>(ctx, A, Factorization::ilu0, 1, boost));
    EXPECT_THROW(FixedPointFactor<T>(ctx, A, Factorization::ic0, 1, boost), InvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(, FixedPoint, backends_and_scalars, param_name);

using FixedPointFacts = OnBackend;

TEST_P(FixedPointFacts, zeros_are_named) {
  Context ctx = context();
  const Csr<double> hole(3, Array<std::int32_t>{0, 2, 3, 5}, Array<std::int32_t>{0, 1, 0, 1, 2},
                         Array<double>{1, 2, 3, 4, 5});
  for (const Factorization kind : both_kinds) {
    const FixedPointFactor<double> factor(ctx, hole, kind, 2);
    EXPECT_EQ(factor.structural_zero(), 1);
    EXPECT_EQ(factor.zero_pivot(), 1);
  }
  const Csr<double> singular(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                             Array<double>{2, 4, 1, 2, 3, 5, 1});
  EXPECT_EQ(FixedPointFactor<double>(ctx, singular, Factorization::ilu0, 2).numerical_zero(), 1);
  const Csr<double> indefinite(2, Array<std::int32_t>{0, 1, 3}, Array<std::int32_t>{0, 0, 1}, Array<double>{1, 2, 1});
  FixedPointFactor<double> factor(ctx, indefinite, Factorization::ic0, 2);
  EXPECT_EQ(factor.numerical_zero(), 1);
  EXPECT_EQ(factor.structural_zero(), std::nullopt);
  EXPECT_EQ(factor.not_finite(), std::nullopt);
  factor.update(ctx, indefinite, 1.5);  // 2.5 and 2.5 on the diagonal
  EXPECT_EQ(factor.zero_pivot(), std::nullopt);
  EXPECT_NEAR(factor.matrix().values().host()[2], std::sqrt(2.5 - 4 / 2.5), 1e-15);
  EXPECT_NEAR(factor.residual_norm(ctx, indefinite, 1.5), 0, 1e-14);
}

/// Entries right of the diagonal are not IC(0)'s.
TEST_P(FixedPointFacts, what_lies_right_of_the_diagonal_stays) {
  Context ctx = context();
  const Csr<double> B(4, Array<std::int32_t>{0, 2, 4, 7, 10}, Array<std::int32_t>{0, 1, 0, 1, 0, 2, 3, 1, 2, 3},
                      Array<double>{4, 99, 2, 10, 4, 20, -77, 6, 4, 9});
  EXPECT_EQ(contents(FixedPointFactor<double>(ctx, B, Factorization::ic0, 8).matrix().values()),
            (std::vector<double>{2, 99, 1, 3, 2, 4, -77, 2, 1, 2}));
}

TEST_P(FixedPointFacts, what_does_not_fit_is_refused) {
  Context ctx = context();
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(FixedPointFactor<double>(ctx, wide, Factorization::ilu0, 1), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(4);
  EXPECT_THROW(FixedPointFactor<double>(ctx, A, Factorization::ilu0, 0), InvalidArgument);
  FixedPointFactor<double> factor(ctx, A, Factorization::ilu0, 1);
  EXPECT_THROW(factor.update(ctx, poisson2d<double>(5)), ShapeMismatch);
  if (ctx.on_cuda()) {
    Context host = Context::host();
    EXPECT_NE(complaint<InvalidArgument>([&] { factor.update(host, A); }).find("made for CUDA"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(, FixedPointFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
