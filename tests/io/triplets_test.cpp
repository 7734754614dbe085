#include "sparse/io/triplets.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <random>

#include "sparse/core/error.hpp"
#include "tests/io/files.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
struct Entry {
  std::int32_t row, col;
  T value;
};

template <class T = double>
Triplets<T> triplets(std::int32_t rows, std::int32_t cols, Symmetry symmetry, const std::vector<Entry<T>>& entries) {
  Triplets<T> a;
  a.name = "m", a.rows = rows, a.cols = cols, a.symmetry = symmetry;
  for (const Entry<T>& e : entries) a.row.push_back(e.row), a.col.push_back(e.col), a.value.push_back(e.value);
  return a;
}

template <class T>
struct Assembled {
  CanonicalReport report;
  std::vector<std::int32_t> offsets, cols;
  std::vector<T> values;
};
template <class T>
Assembled<T> assembled(Triplets<T> a) {
  Assembled<T> result;
  const AnyMatrix<T> matrix = assemble(std::move(a), result.report);
  const auto& csr = std::get<Csr<T>>(matrix);
  validate(csr);
  result.offsets.assign(csr.row_offsets().host().begin(), csr.row_offsets().host().end());
  result.cols.assign(csr.col_indices().host().begin(), csr.col_indices().host().end());
  result.values.assign(csr.values().host().begin(), csr.values().host().end());
  return result;
}

TEST(Assemble, sorts_sums_duplicates_and_keeps_zeros) {
  const auto a = assembled<double>(
      triplets(3, 3, Symmetry::general, {{2, 2, 5}, {0, 2, 0}, {0, 0, 1}, {2, 2, 6}, {2, 0, 7}, {0, 0, -1}}));
  EXPECT_EQ(a.offsets, (std::vector<std::int32_t>{0, 2, 2, 4}));
  EXPECT_EQ(a.cols, (std::vector<std::int32_t>{0, 2, 0, 2}));
  EXPECT_EQ(a.values, (std::vector<double>{0, 0, 7, 11}));
  EXPECT_EQ(a.report.stored_entries, 6);
  EXPECT_EQ(a.report.expanded_entries, 6);
  EXPECT_EQ(a.report.nnz, 4);
  EXPECT_EQ(a.report.duplicates, 2);
  EXPECT_EQ(a.report.explicit_zeros, 2);
  EXPECT_EQ(a.report.missing_diagonal, 1);
  EXPECT_EQ(a.report.first_missing_diagonal, 1);
  EXPECT_EQ(a.report.non_finite, 0);
  EXPECT_EQ(a.report.first_non_finite_row, -1);
}

/// Many entries, so that threads share them; rows are empty at both ends and in between.
TEST(Assemble, what_stands_in_order_becomes_what_does_not) {
  std::mt19937_64 random(7);
  std::map<std::pair<std::int32_t, std::int32_t>, double> unique;
  while (unique.size() < 100'000) {
    const auto row = static_cast<std::int32_t>(1000 + random() % 20'000 / 3 * 3),
               col = static_cast<std::int32_t>(random() % 5'000);
    unique[{row, col}] = static_cast<double>(unique.size());
  }
  std::vector<Entry<double>> entries;
  for (const auto& [at, value] : unique) entries.push_back({at.first, at.second, value});
  const auto ordered = assembled<double>(triplets(30'000, 5'000, Symmetry::general, entries));
  std::ranges::shuffle(entries, random);
  const auto shuffled = assembled<double>(triplets(30'000, 5'000, Symmetry::general, entries));
  EXPECT_EQ(ordered.report.nnz, 100'000);
  EXPECT_EQ(ordered.offsets, shuffled.offsets);
  EXPECT_EQ(ordered.cols, shuffled.cols);
  EXPECT_EQ(ordered.values, shuffled.values);
  EXPECT_EQ(ordered.report.missing_diagonal, shuffled.report.missing_diagonal);
}

TEST(Assemble, expands_each_symmetry_from_either_triangle) {
  const auto symmetric = assembled<double>(triplets(2, 2, Symmetry::symmetric, {{0, 1, 3}, {1, 1, 4}}));
  EXPECT_EQ(symmetric.cols, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(symmetric.values, (std::vector<double>{3, 3, 4}));
  EXPECT_EQ(symmetric.report.expanded_entries, 3);
  const auto skew = assembled<double>(triplets(2, 2, Symmetry::skew_symmetric, {{1, 0, 3}}));
  EXPECT_EQ(skew.values, (std::vector<double>{-3, 3}));
  const auto hermitian = assembled<Complex128>(triplets<Complex128>(2, 2, Symmetry::hermitian, {{1, 0, {3, 4}}}));
  EXPECT_EQ(hermitian.values, (std::vector<Complex128>{{3, -4}, {3, 4}}));
  const auto complex_symmetric =
      assembled<Complex128>(triplets<Complex128>(2, 2, Symmetry::symmetric, {{1, 0, {3, 4}}}));
  EXPECT_EQ(complex_symmetric.values, (std::vector<Complex128>{{3, 4}, {3, 4}}));
}

TEST(Assemble, sums_duplicates_of_a_symmetric_matrix_in_both_triangles) {
  const auto a = assembled<double>(triplets(2, 2, Symmetry::symmetric, {{1, 0, 3}, {1, 0, 4}, {0, 0, 1}}));
  EXPECT_EQ(a.values, (std::vector<double>{1, 7, 7}));
  EXPECT_EQ(a.report.duplicates, 2);
}

TEST(Assemble, refuses_both_triangles_of_a_symmetric_matrix_and_names_the_entry) {
  const auto fault = thrown<InvalidArgument>([] {
    assembled<double>(triplets(3, 3, Symmetry::symmetric, {{2, 2, 1}, {2, 1, -1}, {0, 0, 1}, {1, 2, -1}}));
  });
  EXPECT_EQ(fault,
            "m: the matrix is symmetric and stores both entry (2, 3) and its mirror image (3, 2), counted from 1\n"
            "  expected one triangle: the other one follows from it\n"
            "  write general where both triangles are stored, or remove one of them");
  EXPECT_THROW(assembled<double>(triplets(2, 2, Symmetry::skew_symmetric, {{1, 0, 1}, {0, 1, -1}})), InvalidArgument);
}

TEST(Assemble, takes_exact_conjugates_of_a_hermitian_matrix_once) {
  const auto entries = [](Complex128 mirror) {
    return triplets<Complex128>(2, 2, Symmetry::hermitian, {{0, 0, 4}, {0, 1, {1, 2}}, {1, 0, mirror}, {1, 1, 5}});
  };
  const auto a = assembled<Complex128>(entries({1, -2}));
  EXPECT_EQ(a.values, (std::vector<Complex128>{4, {1, 2}, {1, -2}, 5}));
  EXPECT_EQ(a.report.mirrored, 1);
  EXPECT_EQ(a.report.duplicates, 0);
  EXPECT_THROW(assembled<Complex128>(entries({1, 2})), InvalidArgument);
}

TEST(Assemble, drops_the_zeros_of_an_array_only) {
  auto a = triplets<double>(2, 2, Symmetry::general, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, nan}});
  a.dense = true;
  const auto result = assembled<double>(std::move(a));
  EXPECT_EQ(result.cols, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(result.report.stored_entries, 4);
  EXPECT_EQ(result.report.explicit_zeros, 0);
  EXPECT_EQ(result.report.non_finite, 1);
}

TEST(Assemble, finds_what_is_not_finite) {
  const auto a = assembled<double>(
      triplets(4, 3, Symmetry::general, {{3, 1, nan}, {2, 2, std::numeric_limits<double>::infinity()}, {2, 0, 1}}));
  EXPECT_EQ(a.report.non_finite, 2);
  EXPECT_EQ(a.report.first_non_finite_row, 2);
  EXPECT_EQ(a.report.first_non_finite_col, 2);
  EXPECT_EQ(a.report.missing_diagonal, 2);
  EXPECT_EQ(assembled<Complex128>(triplets<Complex128>(1, 1, Symmetry::general, {{0, 0, {1, nan}}})).report.non_finite,
            1);
}

TEST(Assemble, handles_empty_matrices) {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 3}, {3, 0}, {3, 4}}) {
    const auto a = assembled<double>(triplets(rows, cols, Symmetry::general, {}));
    EXPECT_EQ(a.offsets.size(), static_cast<std::size_t>(rows) + 1);
    EXPECT_EQ(a.report.missing_diagonal, std::min(rows, cols));
  }
}

TEST(Assemble, refuses_faulty_triplets) {
  EXPECT_EQ(thrown<InvalidArgument>([] {
              assembled<double>(triplets(2, 2, Symmetry::general, {{0, 0, 1}, {0, 2, 1}}));
            }),
            "m: entry 1 (from 0) lies at row 0, column 2 of a 2 x 2 matrix (from 0)");
  EXPECT_THROW(assembled<double>(triplets(2, 2, Symmetry::general, {{-1, 0, 1}})), InvalidArgument);
  EXPECT_THROW(assembled<double>(triplets(2, 3, Symmetry::symmetric, {})), ShapeMismatch);
  auto a = triplets<double>(2, 2, Symmetry::general, {{0, 0, 1}});
  a.value.clear();
  EXPECT_THROW(assembled<double>(std::move(a)), ShapeMismatch);
}

/// Sums in the order of the entries, by row and column.
template <class T>
std::map<std::pair<int, int>, T> sums(const Triplets<T>& a) {
  std::map<std::pair<int, int>, T> result;
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    result[{a.row[i], a.col[i]}] += a.value[i];
    if (a.symmetry != Symmetry::general && a.row[i] != a.col[i])
      result[{a.col[i], a.row[i]}] += mirror_value(a.symmetry, a.value[i]);
  }
  return result;
}

template <class T>
class AssembleRandom : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<float>, Complex128>;
TYPED_TEST_SUITE(AssembleRandom, Scalars);

TYPED_TEST(AssembleRandom, gives_the_same_bits_for_any_number_of_threads) {
  using T = TypeParam;
  std::mt19937_64 engine(17);
  for (const Symmetry symmetry :
       {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    Triplets<T> a;
    a.name = "random", a.rows = a.cols = 700, a.symmetry = symmetry;
    for (int i = 0; i < 60'000; ++i) {
      auto row = static_cast<std::int32_t>(engine() % 700), col = static_cast<std::int32_t>(engine() % 700);
      if (i % 5 == 0) row = 699;  // a dense row
      if (symmetry != Symmetry::general && row <= col) continue;
      a.row.push_back(row), a.col.push_back(col), a.value.push_back(random_scalar<T>(engine));
    }
    const auto expected = sums(a);
    for (const int threads : {1, 2, 5}) {
      omp_set_num_threads(threads);
      const auto result = assembled<T>(a);
      ASSERT_EQ(result.values.size(), expected.size());
      EXPECT_EQ(result.report.nnz + result.report.duplicates, result.report.expanded_entries);
      std::size_t i = 0;
      for (const auto& [place, value] : expected) {
        ASSERT_EQ(result.cols[i], place.second);
        ASSERT_EQ(result.values[i++], value) << place.first << ' ' << place.second << ", seed 17";
      }
    }
  }
}

}  // namespace
}  // namespace krill::test
