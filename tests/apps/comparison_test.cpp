// The parts of `krill verify` that find mistakes: ulps, bounds, and what is said of a wrong entry.
#include "apps/verify/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/verify/references.hpp"
#include "apps/verify/verification.hpp"

namespace krill::apps::verify {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Csr<double> tridiagonal(std::int32_t n) {
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<double> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      cols.push_back(j), values.push_back(i == j ? 3.7 : -1.1 - 0.01 * j);
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return {n, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(cols)),
          Array<double>(std::move(values))};
}

std::vector<double> wave(std::int32_t n) {
  std::vector<double> x;
  for (std::int32_t i = 0; i < n; ++i) x.push_back(std::sin(0.7 * i) + 1.5);
  return x;
}

/// A x in double, one entry after the other.
std::vector<double> multiply(const Rows<double>& A, const std::vector<double>& x) {
  std::vector<double> y;
  for (std::int32_t i = 0; i < A.rows; ++i) {
    double sum = 0;
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) sum += A.value[k] * x[static_cast<std::size_t>(A.col[k])];
    y.push_back(sum);
  }
  return y;
}

TEST(Ulps, count_units_of_the_last_place) {
  EXPECT_EQ(ulps(1.0, 1.0L), 0);
  EXPECT_EQ(ulps(1.0 + eps, 1.0L), 1);
  EXPECT_EQ(ulps(1.0 - eps / 2, 1.0L), 0.5);  // the spacing below 1 is half of that above
  EXPECT_EQ(ulps(1.0F, 1.0L + 3 * static_cast<long double>(std::numeric_limits<float>::epsilon())), 3);
  EXPECT_EQ(ulps(-4.0 - 8 * eps, -4.0L), 2);
  EXPECT_EQ(ulps(std::numeric_limits<double>::denorm_min(), 0.0L), 1);
  EXPECT_EQ(ulps(std::numeric_limits<double>::max(), static_cast<long double>(std::numeric_limits<double>::max())), 0);
  EXPECT_EQ(ulps(nan, 1.0L), inf);
  EXPECT_EQ(ulps(inf, 1.0L), inf);
}

TEST(Ulps, fall_into_bins) {
  const std::vector<std::pair<double, std::string>> wanted{
      {0, "0"},   {0.5, "0"}, {0.51, "1"}, {1.5, "1"},         {2, "2"},       {2.6, "3-4"},  {4.5, "3-4"},
      {5, "5-8"}, {8, "5-8"}, {9, "9-16"}, {1024, "513-1024"}, {1025, "more"}, {inf, "more"}, {nan, "more"}};
  for (const auto& [distance, label] : wanted) {
    UlpHistogram histogram;
    histogram.add(distance);
    for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
      EXPECT_EQ(histogram.counts[bin], UlpHistogram::labels[bin] == label) << distance << " in " << bin;
  }
}

TEST(Bounds, grow_with_the_terms_of_a_sum) {
  BoundedSum<double> sum;
  for (int k = 0; k < 10; ++k) sum.add(Bounded<double>(k % 2 ? 1.0 : -1.0), Bounded<double>(2.0));
  EXPECT_EQ(sum.result().value, 0);
  EXPECT_GE(sum.result().error, 10 * eps / 2 * 20);
  EXPECT_LE(sum.result().error, 10.1L * eps / 2 * 20);
}

TEST(Bounds, of_operands_are_carried_on) {
  const Bounded<double> a{3, 0.5L}, b{2, 0.25L};
  EXPECT_GE(times(a, b).error, 3.5L * 2.25L - 6);
  EXPECT_GE(quotient(a, b).error, 3.5L / 1.75L - 1.5L);
  EXPECT_EQ(quotient(a, {0.2L, 0.25L}).error, std::numeric_limits<long double>::infinity());
  EXPECT_GE(root(Bounded<double>{4, 1}).error, 2 - std::sqrt(3.0L));
  EXPECT_EQ(root(Bounded<double>{-4, 1}).error, std::numeric_limits<long double>::infinity());
}

/// A product of a kernel that is right, but for what `spoil` does to it.
template <class Spoil>
Comparison product_with(Spoil&& spoil) {
  const Rows<double> A = rows_of(tridiagonal(50));
  const std::vector<double> x = wave(50);
  std::vector<double> y = multiply(A, x);
  spoil(y);
  return compare<double>(y, product<double>(A, bounded<double>(x)));
}

TEST(Injected, nothing_passes) {
  const Comparison c = product_with([](auto&) {});
  EXPECT_EQ(c.verdict, Verdict::pass);
  EXPECT_EQ(c.entries, 50);
  EXPECT_LE(c.componentwise, 1);
  EXPECT_FALSE(c.first);
}

TEST(Injected, one_entry_off_by_some_ulps_is_named) {
  const Comparison c = product_with([](auto& y) { y[17] *= 1 + 64 * eps; });
  EXPECT_EQ(c.verdict, Verdict::fail);
  EXPECT_EQ(c.wrong, 1);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->index, 17);
  EXPECT_GT(c.first->error, c.first->bound);
}

TEST(Injected, nan_and_a_row_that_was_left_out_are_named) {
  for (const double wrong : {nan, inf, 0.0}) {
    const Comparison c = product_with([&](auto& y) { y[3] = wrong, y[30] = wrong; });
    EXPECT_EQ(c.verdict, Verdict::fail) << wrong;
    EXPECT_EQ(c.wrong, 2);
    ASSERT_TRUE(c.first);
    EXPECT_EQ(c.first->index, 3);
    EXPECT_FALSE(c.componentwise <= 1);
  }
}

TEST(Injected, results_of_another_length_fail) {
  const Comparison c = product_with([](auto& y) { y.pop_back(); });
  EXPECT_EQ(c.verdict, Verdict::fail);
  EXPECT_EQ(c.reason, "there are 49 results, 50 were expected");
}

TEST(Injected, a_bit_of_moved_data_is_named) {
  const std::vector<std::int32_t> right{1, 2, 3}, wrong{1, 2, 4};
  EXPECT_EQ(compare_bits<std::int32_t>(right, right).verdict, Verdict::pass);
  const Comparison c = compare_bits<std::int32_t>(wrong, right);
  EXPECT_EQ(c.verdict, Verdict::fail);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->index, 2);
  EXPECT_EQ(c.first->got, "4");
  const std::vector<Entry<double>> entry{{0, 1, 0.0}}, negative{{0, 1, -0.0}};
  EXPECT_EQ(compare_bits<Entry<double>>(entry, negative).verdict, Verdict::fail);
}

TEST(Injected, a_wrong_solution_of_a_triangle_is_named) {
  const Rows<double> L = triangle_of(rows_of(tridiagonal(40)), {Fill::lower});
  const std::vector<double> b = wave(40);
  const BoundedVector<double> exactly = substitute(L, Fill::lower, 2.0, bounded<double>(b));
  std::vector<double> x;
  for (const auto& value : exactly) x.push_back(static_cast<double>(value.value));
  EXPECT_EQ(compare_substitution<double>(L, 2.0, b, x).verdict, Verdict::pass);
  EXPECT_EQ(compare<double>(x, exactly).verdict, Verdict::pass);
  x[11] *= 1 + 32 * eps;
  const Comparison c = compare_substitution<double>(L, 2.0, b, x);
  EXPECT_EQ(c.verdict, Verdict::fail);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->index, 11);
}

TEST(Injected, a_wrong_entry_of_a_factor_is_named) {
  const Rows<double> A = rows_of(tridiagonal(40));
  for (const Factorization kind : {Factorization::ilu0, Factorization::ic0}) {
    std::vector<double> factor;
    for (const auto& value : factorize(shifted(A, kind, 0.25), kind))
      factor.push_back(static_cast<double>(value.value));
    EXPECT_EQ(compare_factors<double>(A, factor, kind, 0.25).verdict, Verdict::pass);
    EXPECT_EQ(compare_factors<double>(A, factor, kind, 0).verdict, Verdict::fail);
    const std::size_t place = *A.find(20, 19);
    factor[place] *= 1 + 64 * eps;
    const Comparison c = compare_factors<double>(A, factor, kind, 0.25);
    EXPECT_EQ(c.verdict, Verdict::fail);
    ASSERT_TRUE(c.first);
    EXPECT_EQ(c.first->index, static_cast<std::int64_t>(place));
  }
}

TEST(Comparisons, decide_nothing_where_nothing_could_fail) {
  const std::vector<double> got{1, 2};
  const std::vector<Bounded<double>> loose{{1, 5}, {2, 5}},
      unbounded{{1, std::numeric_limits<long double>::infinity()}, {2, std::numeric_limits<long double>::infinity()}};
  EXPECT_EQ(compare<double>(got, loose).verdict, Verdict::none);
  EXPECT_EQ(compare<double>(got, unbounded).verdict, Verdict::none);
  EXPECT_EQ(compare<double>(got, unbounded).unjudged, 2);
}

TEST(Comparisons, merge_keeps_failures_and_the_first_entry) {
  Comparison all;
  all.merge(product_with([](auto&) {}), "first");
  EXPECT_EQ(all.verdict, Verdict::pass);
  all.merge(product_with([](auto& y) { y[5] = nan; }), "second");
  all.merge(product_with([](auto& y) { y[2] = nan; }), "third");
  all.merge(product_with([](auto&) {}), "fourth");
  EXPECT_EQ(all.verdict, Verdict::fail);
  EXPECT_EQ(all.entries, 200);
  EXPECT_EQ(all.wrong, 2);
  EXPECT_EQ(all.first->where, "second");
  EXPECT_EQ(all.first->index, 5);
}

TEST(Ledgers, turn_errors_into_failures_and_count) {
  VerifyResult v;
  v.name = "test";
  v.ledger.about("products", "a matrix");
  v.ledger.check("good", "a bound", [] { return product_with([](auto&) {}); });
  EXPECT_EQ(exit_code(v), 0);
  v.ledger.not_checked("open", "no diagonal");
  v.ledger.check("bad", "a bound", [] { return product_with([](auto& y) { y[7] = nan; }); });
  v.ledger.check("thrown", "a bound", []() -> Comparison { throw InvalidArgument("it cannot"); });
  EXPECT_EQ(exit_code(v), 1);
  EXPECT_EQ(v.ledger.count(Verdict::fail), 2);
  EXPECT_EQ(v.ledger.count(Verdict::none), 1);
  const auto groups = summarize(v.ledger.checks());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].checks, 4);
  EXPECT_EQ(groups[0].failed, 2);
  const std::string text = failure_text(v.ledger.checks()[2]);
  EXPECT_NE(text.find("entry 7"), std::string::npos) << text;
  EXPECT_NE(text.find("a bound"), std::string::npos) << text;
  EXPECT_NE(failure_text(v.ledger.checks()[3]).find("it cannot"), std::string::npos);
}

TEST(Ledgers, go_on_after_errors_but_for_those_that_make_all_else_vain) {
  Ledger ledger;
  ledger.about("products", "a matrix");
  EXPECT_THROW(ledger.check("lost", "a bound", []() -> Comparison { throw CudaError("the device is gone"); }),
               CudaError);
  EXPECT_EQ(ledger.current(), "lost");
  EXPECT_THROW(ledger.check_all([] { throw OutOfMemory("values", 2, 1); }), OutOfMemory);
  EXPECT_TRUE(ledger.checks().empty());
  ledger.check_all([] { throw ShapeMismatch("x has 3 entries"); });
  ASSERT_EQ(ledger.checks().size(), 1U);
  EXPECT_EQ(ledger.checks()[0].name, "what comes after lost");
  EXPECT_EQ(ledger.checks()[0].result.reason, "x has 3 entries");
}

}  // namespace
}  // namespace krill::apps::verify
