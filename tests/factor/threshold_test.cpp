#include "sparse/factor/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "apps/verify/references/threshold.hpp"
#include "sparse/order/ordering.hpp"
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
constexpr DropOptions with_pivoting(DropOptions o, double tolerance) {
  o.compensates = false, o.pivoting = tolerance;
  return o;
}

template <class K>
using DenseRows = std::vector<std::vector<K>>;
template <class K>
DenseRows<K> dense_rows(const verify::Rows<K>& A) {
  DenseRows<K> dense(static_cast<std::size_t>(A.rows), std::vector<K>(static_cast<std::size_t>(A.cols)));
  A.for_places([&](std::int32_t i, std::size_t k) {
    dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(A.col[k])] = A.value[k];
  });
  return dense;
}

/// Beside the p largest of [first, last) the others become 0, of equal ones those on the right.
template <class K>
void keep_largest_of(std::vector<K>& row, std::size_t first, std::size_t last, std::int32_t p) {
  std::vector<std::size_t> at;
  for (std::size_t j = first; j < last; ++j)
    if (!(row[j] == K(0))) at.push_back(j);
  std::ranges::stable_sort(at, [&](std::size_t a, std::size_t b) {
    return verify::detail::size_of(row[a]) > verify::detail::size_of(row[b]);
  });
  for (std::size_t k = static_cast<std::size_t>(p); k < at.size(); ++k) row[at[k]] = K(0);
}

/// ILUTP of a dense matrix, whose columns change their places as a whole (Saad 2003, sections 10.4.1 and 10.4.4): L
/// without its diagonal, and U, in the place of a. Returns which column of a stands where.
template <class K>
std::vector<std::int32_t> dense_ilutp(DenseRows<K>& a, const DropOptions& o) {
  const std::size_t n = a.size();
  std::vector<std::int32_t> columns(n);
  for (std::size_t j = 0; j < n; ++j) columns[j] = static_cast<std::int32_t>(j);
  const auto size_of = [](const K& value) { return verify::detail::size_of(value); };
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<K>& w = a[i];
    long double sum = 0;
    for (const K& value : w) sum += static_cast<long double>(size_of(value)) * size_of(value);
    const long double tolerance = o.tolerance * std::sqrt(sum);
    for (std::size_t k = 0; k < i; ++k) {
      w[k] = size_of(w[k]) < tolerance || w[k] == K(0) ? K(0) : w[k] / a[k][k];
      if (w[k] == K(0)) continue;
      for (std::size_t j = k + 1; j < n; ++j)
        if (!(a[k][j] == K(0))) w[j] = w[j] - w[k] * a[k][j];
    }
    std::size_t best = i + 1;
    for (std::size_t j = i + 1; j < n; ++j)
      if (size_of(w[j]) > size_of(w[best])) best = j;
    if (best < n && size_of(w[best]) * o.pivoting > size_of(w[i])) {
      for (std::vector<K>& row : a) std::swap(row[i], row[best]);
      std::swap(columns[i], columns[best]);
    }
    for (std::size_t j = i + 1; j < n; ++j)
      if (size_of(w[j]) < tolerance) w[j] = K(0);
    keep_largest_of(w, 0, i, o.max_row_entries);
    keep_largest_of(w, i + 1, n, o.max_row_entries);
  }
  return columns;
}

/// Rows one further up: the large entries of a dominant matrix stand beside the diagonal.
template <class T>
Csr<T> with_rows_shifted(Context& ctx, const Csr<T>& A) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>((i + 1) % order.size());
  return Reordered<T, std::int32_t>::of_rows(ctx, A, Ordering(Array<std::int32_t>(order))).release();
}

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
                                                                                : verify::ilut(a, o).factor;
          EXPECT_EQ(factor.columns().size(), 0);
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

/// Columns move as in a dense matrix, and as in the reference of `verify`.
TEST_P(Threshold, pivots_have_the_bits_of_the_textbook) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    std::int32_t moved = 0, stayed = 0;
    for (const Csr<T>&A :
         {random_dominant<T>(1, 100, 6), with_rows_shifted(ctx, random_dominant<T>(2, 90, 6)),
          solvable(3, random_csr<T>(4, {"gaps", 60, 60, [](std::int32_t row, std::mt19937_64&) { return row % 4; }}))})
      for (const double pivoting : {0.05, 0.5, 1.0})
        for (const DropOptions& drops : several_drops) {
          const DropOptions o = with_pivoting(drops, pivoting);
          SCOPED_TRACE(
              fmt::format("{} rows, p {}, tau {}, pivoting {}", A.rows(), o.max_row_entries, o.tolerance, o.pivoting));
          auto factor = ThresholdFactor<T>::analyze(ctx, A, Factorization::ilu0, o);
          factor.update(ctx, A);
          validate(factor.matrix());
          const verify::Rows<K> found = in_kernels(factor.matrix());
          const verify::DroppedLu<K> reference = verify::ilut(in_kernels(A), o);
          DenseRows<K> dense = dense_rows(in_kernels(A));
          const std::vector<std::int32_t> columns = dense_ilutp(dense, o);
          EXPECT_EQ(reference.columns, columns);
          ASSERT_TRUE(dense_rows(reference.factor) == dense);
          EXPECT_EQ(found.offsets, reference.factor.offsets);
          EXPECT_EQ(found.col, reference.factor.col);
          ASSERT_TRUE(dense_rows(found) == dense);
          std::int32_t other_places = 0;
          for (std::int32_t j = 0; j < A.cols(); ++j) other_places += columns[static_cast<std::size_t>(j)] != j;
          EXPECT_EQ(factor.moved(), other_places);
          EXPECT_EQ(contents(factor.columns()), other_places > 0 ? columns : std::vector<std::int32_t>());
          other_places > 0 ? ++moved : ++stayed;
        }
    EXPECT_GT(moved, 0);
    EXPECT_GT(stayed, 0);
  });
}

/// Where nothing is dropped, the product of the factors is A with its columns moved, to the rounding of the sum of
/// n products in each entry, |L U - A Q| <= gamma_n |L| |U| (Higham 2002, theorem 9.3), gamma_4n for complex numbers.
TEST_P(Threshold, all_entries_are_the_factorization_with_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = with_rows_shifted(ctx, random_dominant<T>(5, 80, 5));
    auto factor = ThresholdFactor<T>::analyze(ctx, A, Factorization::ilu0, with_pivoting({A.rows(), 0}, 1));
    factor.update(ctx, A);
    EXPECT_EQ(factor.moved(), A.rows());
    const auto lu = dense_rows(verify::rows_of(factor.matrix())), a = dense_rows(verify::rows_of(A));
    const auto columns = contents(factor.columns());
    const double gamma = (is_complex<T> ? 4 : 1) * A.rows() * epsilon<T>();
    for (std::size_t i = 0; i < lu.size(); ++i)
      for (std::size_t j = 0; j < lu.size(); ++j) {
        Z sum = i <= j ? Z(lu[i][j]) : Z(0);
        double size = std::abs(sum);
        for (std::size_t k = 0; k < std::min(i, j + 1); ++k)
          sum += Z(lu[i][k]) * Z(lu[k][j]), size += std::abs(Z(lu[i][k])) * std::abs(Z(lu[k][j]));
        EXPECT_LE(std::abs(sum - Z(a[i][static_cast<std::size_t>(columns[j])])), gamma * size) << i << ", " << j;
      }
  });
}

INSTANTIATE_TEST_SUITE_P(, Threshold, backends_and_scalars, param_name);

/// Columns are those of the values that came last.
TEST(ThresholdHost, new_values_have_pivots_of_their_own) {
  Context ctx = Context::host(1);
  Csr<double> A(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<double>{0, 2, 3, 4});
  auto factor = ThresholdFactor<double>::analyze(ctx, A, Factorization::ilu0, with_pivoting({5, 0}, 0.5));
  factor.update(ctx, A);
  EXPECT_EQ(contents(factor.columns()), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(contents(factor.matrix().values()), (std::vector<double>{2, 2, 3}));
  A.values() = Array<double>{1, 2, 3, 4};  // 2 times a half is not more than 1
  factor.update(ctx, A);
  EXPECT_EQ(factor.moved(), 0);
  EXPECT_EQ(factor.columns().size(), 0);
  EXPECT_EQ(contents(factor.matrix().values()), (std::vector<double>{1, 2, 3, -2}));
  A.values() = Array<double>{1, 2.5, 3, 4};
  factor.update(ctx, A);
  EXPECT_EQ(factor.moved(), 2);
}

/// What no exchange of columns helps: rows of which elimination leaves nothing, and values that are no numbers.
TEST(ThresholdHost, pivoting_names_singular_rows_and_values_that_are_not_finite) {
  Context ctx = Context::host(1);
  const auto made = [&](std::vector<double> values, std::optional<PivotBoost<double>> boost = {}) {
    const Csr<double> A(3, Array<std::int32_t>{0, 3, 6, 9}, Array<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2},
                        Array<double>(std::move(values)));
    auto factor = ThresholdFactor<double>::analyze(ctx, A, Factorization::ilu0, with_pivoting({}, 1), {}, boost);
    factor.update(ctx, A);
    return factor;
  };
  const std::vector<double> twice{0, 1, 2, 3, 1, 1, 0, 2, 4};
  EXPECT_EQ(made(twice).numerical_zero(), 2);
  EXPECT_EQ(made(twice).not_finite(), std::nullopt);
  EXPECT_EQ(made(twice, PivotBoost<double>{0.01, 0.5}).boosts(), 1);
  EXPECT_EQ(made({0, 1, 2, 3, 1, 1, 0, 2, 5}).numerical_zero(), std::nullopt);
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(made({0, 1, 2, 3, value, 1, 0, 2, 5}).not_finite(), 1) << value;
}

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
  for (const double pivoting : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_NE(
        refused(A, Factorization::ilu0, with_pivoting({}, pivoting)).find(fmt::format("pivoting is {}", pivoting)),
        std::string::npos);
  EXPECT_NE(refused(A, Factorization::ic0, with_pivoting({}, 0.1)).find("pivoting is for ILUT"), std::string::npos);
  EXPECT_NE(refused(A, Factorization::ic0, {}, PivotBoost<double>{}).find("boost"), std::string::npos);
  for (const Factorization kind : both_kinds) {
    auto factor = ThresholdFactor<double>::analyze(ctx, A, kind, {10, 0}, {10'000, 10});
    EXPECT_NE(complaint<OutOfMemory>([&] { factor.update(ctx, A); }).find("fewer, or a larger tolerance"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace krill::test
