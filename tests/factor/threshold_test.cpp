#include "sparse/factor/threshold.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "apps/verify/references/threshold.hpp"
#include "tests/factor/factors.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

template <class T, class Offset>
verify::Rows<kernel_t<T>> in_kernels(const Csr<T, Offset>& A) {
  return verify::with_values(verify::rows_of(A), [](const T& value) { return std::bit_cast<kernel_t<T>>(value); });
}

constexpr DropOptions several_drops[] = {{3, 0}, {1000, 0.01}, {4, 1e-3}, {0, 0.1}, {5, 0.03, true}, {1000, 0}};

using Threshold = OnBackendAndScalar;

TEST_P(Threshold, has_the_bits_of_the_textbook) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Csr<T>&A :
         {random_dominant<T>(1, 150, 6), poisson2d<T>(12).clone(), random_hpd<T>(2, 120, 9),
          solvable(3, random_csr<T>(4, {"gaps", 90, 90, [](std::int32_t row, std::mt19937_64&) { return row % 4; }}),
                   true)})
      for (const Factorization kind : both_kinds)
        for (const DropOptions& o : several_drops) {
          SCOPED_TRACE(fmt::format("{} rows, {}, p {}, tau {}{}", A.rows(), kind == Factorization::ic0 ? "ict" : "ilut",
                                   o.max_row_entries, o.tolerance, o.compensates ? ", compensated" : ""));
          auto factor = ThresholdFactor<T>::analyze(ctx, A, kind, o);
          const double shift = kind == Factorization::ic0 ? 0.25 : 0;
          factor.update(ctx, A, shift);
          validate(factor.matrix());
          const verify::Rows<kernel_t<T>> a = in_kernels(A), found = in_kernels(factor.matrix()),
                                          expected = kind == Factorization::ic0 ? verify::ict(a, o, shift)
                                                                                : verify::ilut(a, o);
          ASSERT_EQ(found.offsets, expected.offsets);
          ASSERT_EQ(found.col, expected.col);
          EXPECT_TRUE(found.value == expected.value);
          EXPECT_EQ(factor.numerical_zero(), std::nullopt);
          EXPECT_EQ(factor.not_finite(), std::nullopt);
        }
  });
}

/// Where nothing is dropped, the product of the factors is A.
TEST_P(Threshold, all_entries_are_the_factorization) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Csr<T>& given : {random_dominant<T>(5, 100, 5), random_hpd<T>(6, 100, 5)}) {
      const Csr<T> A = solvable(7, given, true);
      for (const Factorization kind : both_kinds) {
        auto factor = ThresholdFactor<T>::analyze(ctx, A, kind, {A.rows(), 0});
        factor.update(ctx, A);
        const FilledMatrix<T> filled(ctx, A, kind, A.rows());
        expect_factors(filled.matrix(), factor.matrix(), kind);
        EXPECT_DOUBLE_EQ(factor.fill_ratio(), filled.fill_ratio());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Threshold, backends_and_scalars, param_name);

/// Pivots of a positive definite matrix stay positive, however much is dropped, where it is made up for.
TEST(ThresholdHost, compensation_keeps_pivots_positive) {
  Context ctx = Context::host(1);
  const Csr<double> kershaw(4, Array<std::int32_t>{0, 3, 6, 9, 12},
                            Array<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
                            Array<double>{3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3});
  const auto broken = [&](bool compensates, std::int32_t max_row_entries) {
    auto factor = ThresholdFactor<double>::analyze(ctx, kershaw, Factorization::ic0, {max_row_entries, 0, compensates});
    factor.update(ctx, kershaw);
    return factor.numerical_zero();
  };
  EXPECT_EQ(broken(false, 1), 3);
  for (const std::int32_t entries : {0, 1, 2}) EXPECT_EQ(broken(true, entries), std::nullopt) << entries;
}

TEST(ThresholdHost, pivots_that_fail_are_named) {
  Context ctx = Context::host(1);
  const auto made = [&](std::vector<double> values, Factorization kind, std::optional<PivotBoost<double>> boost = {}) {
    const Csr<double> A(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                        Array<double>(std::move(values)));
    auto factor = ThresholdFactor<double>::analyze(ctx, A, kind, {}, {}, boost);
    factor.update(ctx, A);
    return factor;
  };
  const std::vector<double> vanishes{2, 4, 1, 2, 3, 5, 1}, huge{1e-300, 1e300, 1e300, 1, 0, 0, 1};
  EXPECT_EQ(made(vanishes, Factorization::ilu0).numerical_zero(), 1);
  EXPECT_EQ(made(huge, Factorization::ilu0).not_finite(), 1);
  EXPECT_EQ(made({2, 0, 0, -1, 0, 0, 1}, Factorization::ic0).numerical_zero(), 1);
  const auto boosted = made(vanishes, Factorization::ilu0, PivotBoost<double>{0.01, 0.5});
  EXPECT_EQ(contents(boosted.matrix().values()), (std::vector<double>{2, 4, 0.5, 0.5, 3, 10, -29}));
  EXPECT_EQ(boosted.boosts(), 1);
  EXPECT_EQ(boosted.numerical_zero(), std::nullopt);
}

/// Rows of 1e300 and of 1e-300 have a norm, and drop what is small beside it.
TEST(ThresholdHost, rows_of_any_size_drop_alike) {
  Context ctx = Context::host(1);
  const Csr<double> A = random_dominant<double>(8, 100, 6);
  std::vector<std::int32_t> expected;
  for (const double size : {1.0, 0x1p990, 0x1p-990}) {
    Csr<double> scaled = A.clone();
    for (double& value : scaled.values().edit()) value *= size;
    auto factor = ThresholdFactor<double>::analyze(ctx, scaled, Factorization::ilu0, {5, 0.01});
    factor.update(ctx, scaled);
    EXPECT_EQ(factor.not_finite(), std::nullopt);
    const auto cols = contents(factor.matrix().col_indices());
    if (expected.empty()) expected = cols;
    EXPECT_EQ(cols, expected) << size;
  }
}

TEST(ThresholdHost, what_does_not_fit_is_refused) {
  Context ctx = Context::host(1);
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  const auto refused = [&](const Csr<double>& A, Factorization kind, const DropOptions& o,
                           std::optional<PivotBoost<double>> boost = {}) {
    return complaint<Error>([&] { ThresholdFactor<double>::analyze(ctx, A, kind, o, {}, boost); });
  };
  const Csr<double> A = poisson2d<double>(20);
  EXPECT_THROW(ThresholdFactor<double>::analyze(ctx, wide, Factorization::ilu0, {}), ShapeMismatch);
  EXPECT_NE(refused(A, Factorization::ilu0, {-1, 0}).find("-1 entries a row"), std::string::npos);
  EXPECT_NE(refused(A, Factorization::ilu0, {1, -0.1}).find("tolerance is -0.1"), std::string::npos);
  EXPECT_NE(refused(A, Factorization::ilu0, {1, 1.5}).find("tolerance is 1.5"), std::string::npos);
  EXPECT_NE(refused(A, Factorization::ilu0, {1, std::numeric_limits<double>::quiet_NaN()}).find("tolerance is nan"),
            std::string::npos);
  EXPECT_NE(refused(A, Factorization::ic0, {}, PivotBoost<double>{}).find("boost"), std::string::npos);
  for (const Factorization kind : both_kinds) {
    auto factor = ThresholdFactor<double>::analyze(ctx, A, kind, {10, 0}, {10'000, 10});
    EXPECT_NE(complaint<OutOfMemory>([&] { factor.update(ctx, A); }).find("fewer, or a larger tolerance"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace krill::test
