#include "sparse/order/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>

#include "apps/verify/references/matching.hpp"
#include "sparse/io/read.hpp"
#include "sparse/io/structural_rank.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

/// A square matrix of which each place is an entry with the given chance, values over `decades`.
template <class T>
Csr<T> random_square(std::mt19937_64& engine, std::int32_t n, double chance, double decades) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (uniform(engine) < chance) {
        cols.push_back(j);
        values.push_back(random_scalar<T>(engine) * static_cast<real_t<T>>(std::pow(10, decades * uniform(engine))));
      }
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return {n, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(cols)),
          Array<T>(std::move(values))};
}

/// The most pairs, and the greatest sum of logarithms that so many can have, by trying all columns for all rows.
struct Best {
  int pairs = 0;
  double logs = 0;
};
Best best_by_trying(const std::vector<std::vector<double>>& logs, std::size_t row, unsigned taken) {
  if (row == logs.size()) return {};
  Best best = best_by_trying(logs, row + 1, taken);
  for (std::size_t j = 0; j < logs.size(); ++j) {
    if (taken >> j & 1U || !std::isfinite(logs[row][j])) continue;
    Best with = best_by_trying(logs, row + 1, taken | 1U << j);
    ++with.pairs, with.logs += logs[row][j];
    if (with.pairs > best.pairs || (with.pairs == best.pairs && with.logs > best.logs)) best = with;
  }
  return best;
}

/// That the factors prove the product to be the greatest: every scaled entry is 1 at most, and those of pairs are 1.
/// Returns the sum of their logarithms.
double expect_certified(const Reference& A, const ProductMatching& found, bool is_greatest = true) {
  double logs = 0;
  std::int32_t pairs = 0;
  std::vector<int> used(static_cast<std::size_t>(A.rows));
  for (std::size_t k = 0; k < A.row.size(); ++k) {
    if (A.value[k] == 0.0) continue;
    const auto i = static_cast<std::size_t>(A.row[k]), j = static_cast<std::size_t>(A.col[k]);
    const double size = std::log(std::abs(A.value[k])),
                 scaled = size + found.log_row_factors[i] + found.log_col_factors[j];
    EXPECT_LE(scaled, 1e-9) << "a(" << i << ", " << j << ")";
    if (found.row_of_column[j] != A.row[k]) continue;
    if (is_greatest) {
      EXPECT_GE(scaled, -1e-9) << "a(" << i << ", " << j << ")";
    }
    EXPECT_EQ(used[i]++, 0);
    logs += size, ++pairs;
  }
  EXPECT_EQ(pairs, found.rank);
  EXPECT_EQ(std::ranges::count_if(found.row_of_column, [](std::int32_t i) { return i != unmatched; }), found.rank);
  return logs;
}

TEST(ProductMatching, certificate_tells_a_worse_matching) {
  const Csr<double> A(2, Array(std::vector<std::int32_t>{0, 2, 4}), Array(std::vector<std::int32_t>{0, 1, 0, 1}),
                      Array(std::vector<double>{4, 1, 1, 3}));
  ProductMatching found = maximum_product_matching(A);
  const auto proof = [&] {
    return apps::verify::certificate(apps::verify::rows_of(A), found.row_of_column, found.log_row_factors,
                                     found.log_col_factors);
  };
  EXPECT_NEAR(static_cast<double>(std::ranges::min(proof().of_pairs)), 0, 1e-15);
  EXPECT_LE(std::ranges::max(proof().of_rest), 0);
  std::swap(found.row_of_column[0], found.row_of_column[1]);  // 1 in the place of 12
  EXPECT_NEAR(static_cast<double>(proof().of_pairs[0] + proof().of_pairs[1]), -std::log(12.0), 1e-15);
}

template <class T>
void expect_best(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (int trial = 0; trial < 400; ++trial) {
    const auto n = static_cast<std::int32_t>(1 + engine() % 7);
    const Csr<T> A = random_square<T>(engine, n, trial % 2 ? 0.3 : 0.7, trial % 3 ? 8 : 0);
    const Reference entries = reference(A);
    std::vector<std::vector<double>> logs(
        static_cast<std::size_t>(n),
        std::vector<double>(static_cast<std::size_t>(n), -std::numeric_limits<double>::infinity()));
    for (std::size_t k = 0; k < entries.row.size(); ++k)
      logs[static_cast<std::size_t>(entries.row[k])][static_cast<std::size_t>(entries.col[k])] =
          std::log(std::abs(entries.value[k]));
    const Best best = best_by_trying(logs, 0, 0);
    const ProductMatching found = maximum_product_matching(A);
    EXPECT_TRUE(found.has_greatest_product);
    ASSERT_EQ(found.rank, best.pairs) << trial;
    const double sum = expect_certified(entries, found);
    if (best.pairs == n) {
      ASSERT_NEAR(sum, best.logs, 1e-9 * (1 + std::abs(best.logs))) << trial;
    }
  }
}

TEST(ProductMatching, is_the_best_of_all_permutations) {
  expect_best<double>(1);
  expect_best<float>(2);
  expect_best<std::complex<double>>(3);
  expect_best<std::complex<float>>(4);
}

template <class T, class Offset>
std::int32_t rank_of(const Csr<T, Offset>& A) {
  const PatternView<Offset> pattern{A.rows(), A.cols(), A.row_offsets().host(), A.col_indices().host()};
  return structural_rank(pattern)->rank;
}

TEST(ProductMatching, proves_itself_and_has_the_structural_rank) {
  for (const Shape& shape : square_shapes()) {
    SCOPED_TRACE(shape.name);
    const Csr<double, std::int64_t> A = random_csr<double, std::int64_t>(5, shape);
    const ProductMatching found = maximum_product_matching(A);
    expect_certified(reference(A), found);
    EXPECT_EQ(found.rank, rank_of(A));
  }
}

TEST(ProductMatching, proves_itself_on_real_matrices) {
  const char* folder = std::getenv("KRILL_MATRICES");
  if (!folder) GTEST_SKIP() << "no real matrices; KRILL_MATRICES names their folder";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    if (!name.ends_with(".mtx.gz") || name.ends_with("_b.mtx.gz")) continue;
    if (std::filesystem::file_size(file.path()) > 2'000'000) continue;
    SCOPED_TRACE(name);
    CanonicalReport report;
    const AnyMatrix<std::complex<double>> matrix =
        assemble(read_matrix<std::complex<double>>(file.path()).matrix, report);
    std::visit(
        [&]<class Matrix>(const Matrix& A) {
          if constexpr (is_csr<Matrix>) {
            if (A.rows() != A.cols()) return;
            const ProductMatching found = maximum_product_matching(A);
            EXPECT_TRUE(found.has_greatest_product);
            expect_certified(reference(A), found);
          }
        },
        matrix);
  }
}

/// Work of nothing at all: what the start does not match, the pattern does. Factors still bound all entries.
TEST(ProductMatching, beyond_its_work_is_completed_by_the_pattern) {
  std::mt19937_64 engine(6);
  bool was_cut = false;
  for (int trial = 0; trial < 50; ++trial) {
    const Csr<double> A = random_square<double>(engine, 60, 0.06, 6);
    const ProductMatching found = maximum_product_matching(A, {.an_entry = 0, .in_all = 0});
    expect_certified(reference(A), found, found.has_greatest_product);
    EXPECT_EQ(found.rank, rank_of(A));
    was_cut = was_cut || !found.has_greatest_product;
  }
  EXPECT_TRUE(was_cut);
}

TEST(ProductMatching, takes_stored_zeros_for_nothing_and_names_what_is_not_finite) {
  const auto made = [](double a, double b, double c, double d) {
    return Csr<double>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<double>{a, b, c, d});
  };
  EXPECT_EQ(maximum_product_matching(made(0, 1, 1, 0)).row_of_column, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(maximum_product_matching(made(0, 1, 0, 1)).rank, 1);
  EXPECT_EQ(maximum_product_matching(made(1e-308, 5e-324, 1e308, 1)).rank, 2);
  EXPECT_EQ(complaint<InvalidArgument>([&] { Matching<double>{made(0, 1, 0, 1)}; }),
            "matching: only 1 of 2 rows find a column of their own, so the matrix is singular whatever its values are: "
            "column 0 has no entries other than 0 (counted from 0); use matching none, or correct the matrix");
  EXPECT_EQ(complaint<InvalidArgument>([&] { Matching<double>{made(1, 1, 1, HUGE_VAL)}; }),
            "matching: a(1, 1) is not finite (rows and columns count from 0); every entry must be finite");
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(maximum_product_matching(wide), ShapeMismatch);
}

using Matchings = OnBackendAndScalar;

/// Row order()[j] of A becomes row j, with the factors of its row and of each column; the diagonal gets the modulus 1.
TEST_P(Matchings, move_and_scale_every_entry_and_follow_new_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = [&] {  // dominant, its rows shuffled
      const Csr<T> dominant = random_dominant<T>(7, 800, 6);
      const Ordering shuffle(Array<std::int32_t>(shuffled(8, dominant.rows())));
      return Reordered<T, std::int32_t>::of_rows(ctx, dominant, shuffle).release();
    }();
    const Matching<T> matching(A);
    EXPECT_TRUE(matching.has_greatest_product());
    EXPECT_GT(matching.moved(), 700);
    Matched<T, std::int32_t> made(ctx, A, matching);
    const auto expect_moved = [&](double diagonal) {
      validate(made.matrix());
      const Reference from = reference(A), to = reference(made.matrix());
      const auto place = matching.rows().inverse().host();
      const auto rows = matching.scaling().rows().host(), cols = matching.scaling().cols().host();
      std::map<std::pair<std::int32_t, std::int32_t>, Z> expected;
      for (std::size_t k = 0; k < from.row.size(); ++k) {
        const auto i = static_cast<std::size_t>(from.row[k]), j = static_cast<std::size_t>(from.col[k]);
        expected[{place[i], from.col[k]}] = from.value[k] * static_cast<double>(rows[i]) * static_cast<double>(cols[j]);
      }
      ASSERT_EQ(to.row.size(), expected.size());
      for (std::size_t k = 0; k < to.row.size(); ++k) {
        const Z wanted = expected.at({to.row[k], to.col[k]});
        ASSERT_LE(std::abs(to.value[k] - wanted), 4 * epsilon<T>() * std::abs(wanted));
        if (to.row[k] == to.col[k]) {
          ASSERT_NEAR(std::abs(to.value[k]), diagonal, 10 * epsilon<T>() * diagonal);
        }
      }
    };
    expect_moved(1);
    for (T& value : A.values().edit()) value *= T(3);
    made.update(ctx, A, matching);
    expect_moved(3);
  });
}

INSTANTIATE_TEST_SUITE_P(, Matchings, backends_and_scalars, param_name);

TEST(StructuralRank, names_the_rows_and_columns_that_are_too_few) {
  // Rows 0, 2 and 3 share columns 1 and 4; so columns 0, 2 and 3 have entries in rows 1 and 4 only.
  const std::vector<std::int32_t> offsets{0, 2, 5, 6, 8, 10}, columns{1, 4, 0, 2, 4, 1, 1, 4, 2, 3};
  const PatternView<std::int32_t> pattern{5, 5, offsets, columns};
  const auto found = structural_rank(pattern);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 4);
  EXPECT_EQ(found->vertical.rows, (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(found->vertical.cols, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(found->horizontal.rows, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(found->horizontal.cols, (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(deficiency_text(*found), "rows 0, 2 and 3 have entries in columns 1 and 4 only");
}

/// In a deficient part there are as many lines too many as the rank lacks, and entries lie where it says.
TEST(StructuralRank, parts_of_random_patterns_are_as_deficient_as_the_whole) {
  std::mt19937_64 engine(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Csr<double> A = random_square<double>(engine, 12, 0.12, 0);
    const PatternView<std::int32_t> pattern{A.rows(), A.cols(), A.row_offsets().host(), A.col_indices().host()};
    const auto found = structural_rank(pattern);
    const auto lacking = static_cast<std::size_t>(A.rows() - found->rank);
    EXPECT_EQ(found->vertical.rows.size() - found->vertical.cols.size(), lacking);
    EXPECT_EQ(found->horizontal.cols.size() - found->horizontal.rows.size(), lacking);
    for (const std::int32_t i : found->vertical.rows)
      for (const std::int32_t j : pattern.row(i)) EXPECT_TRUE(std::ranges::binary_search(found->vertical.cols, j));
    for (std::int32_t i = 0; i < A.rows(); ++i)
      for (const std::int32_t j : pattern.row(i))
        if (std::ranges::binary_search(found->horizontal.cols, j)) {
          EXPECT_TRUE(std::ranges::binary_search(found->horizontal.rows, i));
        }
  }
}

}  // namespace
}  // namespace krill::test
