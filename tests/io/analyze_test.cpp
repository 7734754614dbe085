// What analyze() says of small matrices whose properties are plain to see, and of random ones against a dense search.
#include "sparse/io/analyze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sparse/io/generate.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill {
namespace {

using test::Z;
constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
const Host two_threads{2, {}, nullptr};

template <class T>
struct Entry {
  std::int32_t row, col;
  T value;
};

/// Entries in canonical order.
template <class T = double, class Offset = std::int32_t>
AnyMatrix<T> matrix(std::int32_t rows, std::int32_t cols, const std::vector<Entry<T>>& entries) {
  std::vector<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  std::vector<std::int32_t> columns;
  std::vector<T> values;
  for (const auto& e : entries) {
    for (auto i = static_cast<std::size_t>(e.row) + 1; i < offsets.size(); ++i) ++offsets[i];
    columns.push_back(e.col), values.push_back(e.value);
  }
  return Csr<T, Offset>(cols, Array<Offset>(std::move(offsets)), Array<std::int32_t>(std::move(columns)),
                        Array<T>(std::move(values)));
}

/// All entries, zeros left out.
template <class T = double>
AnyMatrix<T> matrix(const std::vector<std::vector<T>>& dense) {
  std::vector<Entry<T>> entries;
  for (std::int32_t i = 0; i < std::ssize(dense); ++i)
    for (std::int32_t j = 0; j < std::ssize(dense[0]); ++j)
      if (const T a = dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; a != T(0))
        entries.push_back({i, j, a});
  return matrix<T>(static_cast<std::int32_t>(dense.size()), static_cast<std::int32_t>(dense[0].size()), entries);
}

template <class T>
MatrixProperties look(const AnyMatrix<T>& A) {
  return analyze(two_threads, A);
}

void expect_pair(const std::optional<EntryPair>& found, std::int32_t row, std::int32_t col, Z value, Z mirror) {
  const EntryPair pair = found.value_or(EntryPair{-1, -1, 0, 0});
  EXPECT_EQ(pair.row, row);
  EXPECT_EQ(pair.col, col);
  EXPECT_EQ(pair.value, value);
  EXPECT_EQ(pair.mirror, mirror);
}

// --- saddle points ---------------------------------------------------------------------------------------------------

TEST(AnalyzeSaddlePoints, are_told_by_structure_and_values) {
  const auto constraints = [](const std::vector<std::vector<double>>& dense) {
    return look(matrix<double>(dense)).constraint_rows;
  };
  EXPECT_EQ(constraints({{2, 0, 1}, {0, 3, 1}, {1, 1, 0}}), 1);
  EXPECT_EQ(constraints({{0, 1, 0, 0}, {1, 2, 1, 0}, {0, 1, 3, 1}, {0, 0, 1, 0}}), 2) << "in any order";
  EXPECT_EQ(constraints({{2, 0, 4}, {0, 3, 1}, {1, 1, 0}}), 1) << "F need not be G^H where C is 0";
  EXPECT_EQ(constraints({{2, 0, 1, 1}, {0, 3, 1, 2}, {1, 1, -2, 1}, {1, 2, 1, -1}}), 2) << "C is semidefinite";
  EXPECT_EQ(constraints({{2, 1}, {1, -1}}), 1);
  // what is none
  EXPECT_EQ(constraints({{2, 1, 1}, {1, 3, 1}, {1, 1, 1}}), 0) << "no constraints";
  EXPECT_EQ(constraints({{-2, 1}, {1, -3}}), 0) << "constraints alone";
  EXPECT_EQ(constraints({{2, 1, 1}, {1, 0, 0}, {1, 0, 0}}), 0) << "more constraints than unknowns: singular";
  EXPECT_EQ(constraints({{2, 0, 1, 1}, {0, 3, 1, 2}, {1, 1, 0, 1}, {1, 2, 1, 0}}), 0) << "constraints meet";
  EXPECT_EQ(constraints({{2, 0, 1, 1}, {0, 3, 1, 2}, {1, 1, -1, 2}, {1, 2, 2, -1}}), 0) << "C is indefinite";
  EXPECT_EQ(constraints({{2, 0, 4}, {0, 3, 1}, {1, 1, -1}}), 0) << "not symmetric, and C is not 0";
  EXPECT_EQ(constraints({{2, 0, 0}, {0, 3, 1}, {1, 1, 0}}), 0) << "the pattern is not symmetric";
  EXPECT_EQ(constraints({{2, 0, 0}, {0, 3, 0}, {0, 0, -1}}), 0) << "a constraint that meets nothing";
  EXPECT_EQ(constraints({{2, nan, 1}, {nan, 3, 1}, {1, 1, 0}}), 0) << "not finite";
  EXPECT_EQ(look(matrix<double>(2, 2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}})).constraint_rows, 1)
      << "a stored zero";
  EXPECT_EQ(look(matrix<Z>({{2, Z(0, 1)}, {Z(0, -1), 0}})).constraint_rows, 1);
}

TEST(AnalyzeSaddlePoints, of_generated_matrices) {
  EXPECT_EQ(look(generate<double>(Stokes2dOptions{9, 7})).constraint_rows, 63);
  EXPECT_EQ(look(generate<double>(Poisson2dOptions{9})).constraint_rows, 0);
  EXPECT_EQ(look(generate<Z>(Helmholtz2dOptions{9, 9, 40, 0.1})).constraint_rows, 0) << "the diagonal is negative";
}

// --- symmetry --------------------------------------------------------------------------------------------------------

TEST(AnalyzeSymmetry, of_a_symmetric_matrix) {
  const auto p = look(matrix<double>({{2, 1, 0}, {1, 2, 3}, {0, 3, 2}}));
  EXPECT_TRUE(p.symmetric && p.hermitian && p.symmetric_pattern && !p.skew);
  EXPECT_FALSE(p.not_symmetric || p.not_hermitian);
  expect_pair(p.not_skew, 0, 0, 2, 2);
  EXPECT_EQ(p.pattern_symmetry, 1);
  EXPECT_EQ(p.symmetry_error, 0);
}

TEST(AnalyzeSymmetry, names_the_first_entry_that_breaks_it) {
  const auto p = look(matrix<double>({{2, 1, 0}, {1, 2, 3}, {4, 3.5, 2}}));
  EXPECT_FALSE(p.symmetric || p.hermitian || p.symmetric_pattern);
  expect_pair(p.not_symmetric, 1, 2, 3, 3.5);
  expect_pair(p.not_hermitian, 1, 2, 3, 3.5);
  EXPECT_EQ(p.pattern_symmetry, 4.0 / 5);
  EXPECT_EQ(p.symmetry_error, 1);  // |4 - 0| / 4
}

TEST(AnalyzeSymmetry, names_the_first_entry_of_a_large_matrix) {
  std::vector<Entry<double>> entries;
  for (std::int32_t i = 0; i < 20000; ++i) {
    if (i > 0) entries.push_back({i, i - 1, i % 6000 == 5999 ? 2.0 : 1.0});
    entries.push_back({i, i, i == 5000 || i == 15000 ? nan : 4.0});
    if (i + 1 < 20000) entries.push_back({i, i + 1, 1.0});
  }
  const auto p = look(matrix<double>(20000, 20000, entries));
  expect_pair(p.not_symmetric, 5998, 5999, 1, 2);
  EXPECT_EQ(p.first_non_finite.value_or(EntryPair{}).row, 5000);
  EXPECT_EQ(p.first_not_positive_diagonal, 5000);
  EXPECT_EQ(p.non_finite, 2);
}

TEST(AnalyzeSymmetry, sees_entries_below_the_diagonal_whose_mirror_is_not_stored) {
  const auto p = look(matrix<double>({{1, 0, 0}, {7, 1, 3}, {0, 2, 1}}));
  expect_pair(p.not_symmetric, 1, 0, 7, 0);  // before (1, 2)
  expect_pair(p.not_hermitian, 1, 0, 7, 0);
  expect_pair(p.not_skew, 0, 0, 1, 1);
  EXPECT_EQ(p.pattern_symmetry, 2.0 / 3);
  EXPECT_EQ(p.symmetry_error, 1);
  const auto above_first = look(matrix<double>({{1, 5, 0}, {0, 1, 0}, {7, 0, 1}}));
  expect_pair(above_first.not_symmetric, 0, 1, 5, 0);
  EXPECT_EQ(above_first.pattern_symmetry, 0);
  EXPECT_EQ(above_first.symmetry_error, 1);
  std::vector<Entry<double>> entries;  // of rows that different threads look at
  for (std::int32_t i = 0; i < 20000; ++i) {
    if (i == 9000 || i == 19000) entries.push_back({i, 3, 0.5});
    entries.push_back({i, i, 4});
    if (i == 10000) entries.push_back({i, i + 1, 0.5});
  }
  expect_pair(look(matrix<double>(20000, 20000, entries)).not_symmetric, 9000, 3, 0.5, 0);
}

TEST(AnalyzeSymmetry, of_a_skew_matrix) {
  const auto p = look(matrix<double>({{0, 1, -2}, {-1, 0, 3}, {2, -3, 0}}));
  EXPECT_TRUE(p.skew && !p.symmetric);
  EXPECT_FALSE(p.not_skew);
  EXPECT_EQ(p.symmetry_error, 2);
}

TEST(AnalyzeSymmetry, tells_complex_symmetric_from_hermitian) {
  const auto hermitian = look(matrix<Z>({{2, Z(1, 3)}, {Z(1, -3), 2}}));
  EXPECT_TRUE(hermitian.hermitian && !hermitian.symmetric);
  expect_pair(hermitian.not_symmetric, 0, 1, Z(1, 3), Z(1, -3));
  const auto symmetric = look(matrix<Z>({{2, Z(1, 3)}, {Z(1, 3), 2}}));
  EXPECT_TRUE(symmetric.symmetric && !symmetric.hermitian);
  EXPECT_EQ(symmetric.hermitian_error, 6 / std::hypot(1, 3));
  const auto diagonal = look(matrix<Z>({{Z(2, 1)}}));
  EXPECT_TRUE(diagonal.symmetric);
  expect_pair(diagonal.not_hermitian, 0, 0, Z(2, 1), Z(2, 1));
}

TEST(AnalyzeSymmetry, counts_what_is_not_stored_as_zero) {
  const auto p = look(matrix<double>(2, 2, {{0, 0, 1}, {0, 1, 0}, {1, 1, 1}}));
  EXPECT_TRUE(p.symmetric);
  EXPECT_FALSE(p.symmetric_pattern);
  EXPECT_EQ(p.pattern_symmetry, 0);
  EXPECT_EQ(p.stored_zeros, 1);
}

TEST(AnalyzeSymmetry, measures_rounding) {
  const auto p = look(matrix<double>({{4, 1 + eps}, {1, 4}}));
  EXPECT_FALSE(p.symmetric);
  EXPECT_EQ(p.symmetry_error, eps / 4);
}

TEST(AnalyzeSymmetry, is_not_claimed_of_a_rectangle) {
  const auto p = look(matrix<double>({{1, 0, 2}, {0, 1, 0}}));
  EXPECT_FALSE(p.symmetric || p.skew || p.hermitian || p.symmetric_pattern || p.not_symmetric || p.positive_diagonal);
  EXPECT_EQ(p.definiteness, Definiteness::not_hermitian);
  EXPECT_EQ(p.definiteness_reason, "not square: 2 rows, 3 columns");
}

// --- diagonal and definiteness ---------------------------------------------------------------------------------------

TEST(AnalyzeDiagonal, tells_missing_from_zero) {
  const auto p = look(matrix<double>(4, 4, {{0, 0, 1}, {1, 0, 1}, {2, 2, 0}, {3, 1, 5}}));
  EXPECT_EQ(p.missing_diagonal, 2);
  EXPECT_EQ(p.first_missing_diagonal, 1);
  EXPECT_EQ(p.zero_diagonal, 1);
  EXPECT_EQ(p.first_zero_diagonal, 2);
  EXPECT_FALSE(p.positive_diagonal);
  EXPECT_EQ(p.first_not_positive_diagonal, 1);
}

TEST(AnalyzeDiagonal, of_a_tall_matrix_ends_with_the_columns) {
  const auto p = look(matrix<double>(4, 2, {{0, 0, 1}, {3, 1, 1}}));
  EXPECT_EQ(p.missing_diagonal, 1);
  EXPECT_EQ(p.first_missing_diagonal, 1);
}

TEST(AnalyzeDiagonal, is_positive_only_where_it_is_real) {
  EXPECT_TRUE(look(matrix<Z>({{1, 0}, {0, 2}})).positive_diagonal);
  EXPECT_EQ(look(matrix<Z>({{1, 0}, {0, Z(2, 1)}})).first_not_positive_diagonal, 1);
  EXPECT_EQ(look(matrix<double>({{1, 0}, {0, -2}})).first_not_positive_diagonal, 1);
}

TEST(AnalyzeDiagonal, is_small_beside_its_row_or_its_column) {
  EXPECT_EQ(look(matrix<double>({{1, 1000}, {0, 1000}})).small_diagonal, 1);
  EXPECT_EQ(look(matrix<double>({{1, 0}, {1000, 1000}})).small_diagonal, 1);
  EXPECT_EQ(look(matrix<double>({{1, 1000}, {1000, 1}})).small_diagonal, 2);
  EXPECT_EQ(look(matrix<double>({{1, -100}, {100, 1}})).small_diagonal, 0);
  EXPECT_EQ(look(matrix<Z>({{Z(0, 1), 0}, {Z(-80, 80), 200}})).small_diagonal, 1);
}

TEST(AnalyzeDiagonal, is_measured_without_its_zeros) {
  const auto p = look(matrix<double>({{-3, 1, 0}, {1, 0, 1}, {0, 1, 0.5}}));
  EXPECT_EQ(p.negative_diagonal, 1);
  EXPECT_EQ(p.min_diagonal, 0.5);
  EXPECT_EQ(p.greatest_diagonal, 3);
}

TEST(AnalyzeRows, counts_those_that_add_up_to_rounding) {
  const auto p = look(matrix<double>({{0.3, -0.1, -0.2}, {0, 0, 1}, {1, -1, 0.25}}));
  EXPECT_EQ(p.null_rows, 1);  // 0.3 - 0.1 - 0.2 is -2.8e-17
  EXPECT_NEAR(p.min_row_norm, 0.6, 4 * eps);
  EXPECT_EQ(look(matrix<Z>({{Z(0, 1), Z(0, -1)}, {1, 1}})).null_rows, 1);
}

TEST(AnalyzeDominance, counts_rows) {
  const auto p = look(matrix<double>({{-3, 1, 1}, {1, 2, -1}, {2, 2, 3}}));
  EXPECT_EQ(p.strictly_dominant_rows, 1);
  EXPECT_EQ(p.dominant_rows, 2);
}

TEST(AnalyzeDominance, does_not_take_rounding_for_more) {
  const double sum = 0.1 + 0.1 + 0.1;
  const auto with_diagonal = [](double a) {
    return look(matrix<double>(1, 4, {{0, 0, a}, {0, 1, 0.1}, {0, 2, -0.1}, {0, 3, 0.1}}));
  };
  for (const double a : {sum * (1 - 2 * eps), sum, sum * (1 + 2 * eps)}) {
    EXPECT_EQ(with_diagonal(a).dominant_rows, 1);
    EXPECT_EQ(with_diagonal(a).strictly_dominant_rows, 0);
  }
  EXPECT_EQ(with_diagonal(sum * (1 + 8 * eps)).strictly_dominant_rows, 1);
  EXPECT_EQ(with_diagonal(sum * (1 - 8 * eps)).dominant_rows, 0);
}

void expect_definiteness(const AnyMatrix<double>& A, Definiteness expected, std::string_view reason) {
  const auto p = look(A);
  EXPECT_EQ(p.definiteness, expected);
  EXPECT_EQ(p.definiteness_reason, reason);
}

TEST(AnalyzeDefiniteness, is_not_proven_by_rounding) {  // a singular Laplacian, its diagonal rounded upwards
  const double a = -0.1, d = 0.3 * (1 + 3 * eps);
  expect_definiteness(matrix<double>({{d, a, a, a}, {a, d, a, a}, {a, a, d, a}, {a, a, a, d}}), Definiteness::possibly,
                      "possibly positive definite");
}

TEST(AnalyzeDefiniteness, is_proven_by_strict_dominance) {
  expect_definiteness(matrix<double>({{3, -2}, {-2, 3}}), Definiteness::positive_definite,
                      "positive definite by diagonal dominance");
}

TEST(AnalyzeDefiniteness, is_proven_where_every_row_leads_to_a_strict_one) {
  EXPECT_EQ(look(generate<double>(Poisson3dOptions{5})).definiteness, Definiteness::positive_definite);
  EXPECT_EQ(look(generate<double>(PowerLawLaplacianOptions{200})).definiteness, Definiteness::positive_definite);
  EXPECT_EQ(look(generate<float>(ResistorNetworkOptions{20})).definiteness, Definiteness::positive_definite);
}

/// The Laplacian of a path, its points in a drawn order, so that the next is nowhere near; `strict` adds 1 to the
/// diagonal at the path's end, and the link after point `cut` is left out.
AnyMatrix<double> drawn_path(std::int32_t rows, bool strict, std::int32_t cut = -1) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(rows));
  std::iota(place.begin(), place.end(), 0);
  std::mt19937_64 engine(7);
  std::shuffle(place.begin(), place.end(), engine);
  std::vector<Entry<double>> entries;
  std::vector<double> diagonal(place.size());
  for (std::size_t p = 0; p + 1 < place.size(); ++p) {
    if (static_cast<std::int32_t>(p) == cut) continue;
    entries.push_back({place[p], place[p + 1], -1}), entries.push_back({place[p + 1], place[p], -1});
    ++diagonal[p], ++diagonal[p + 1];
  }
  if (strict) ++diagonal.back();
  for (std::size_t p = 0; p < place.size(); ++p) entries.push_back({place[p], place[p], diagonal[p]});
  std::ranges::sort(entries, {}, [](const auto& e) { return std::pair(e.row, e.col); });
  return matrix<double>(rows, rows, entries);
}

TEST(AnalyzeDefiniteness, is_proven_along_a_path_through_all_of_the_matrix) {
  constexpr std::int32_t rows = 9'000;
  EXPECT_EQ(look(drawn_path(rows, true)).definiteness, Definiteness::positive_definite);
  EXPECT_EQ(look(drawn_path(rows, false)).definiteness, Definiteness::possibly);
  EXPECT_EQ(look(drawn_path(rows, true, 4'000)).definiteness, Definiteness::possibly);
}

TEST(AnalyzeDefiniteness, is_not_claimed_of_a_singular_dominant_matrix) {
  const auto laplacian = look(matrix<double>({{2, -1, -1}, {-1, 2, -1}, {-1, -1, 2}}));
  EXPECT_EQ(laplacian.dominant_rows, 3);
  EXPECT_EQ(laplacian.definiteness, Definiteness::possibly);
  // A strict row beside the same matrix, and linked to it by a stored zero only, changes nothing.
  const auto beside = look(matrix<double>(4, 4,
                                          {{0, 0, 2},
                                           {0, 1, -1},
                                           {0, 2, -1},
                                           {0, 3, 0},
                                           {1, 0, -1},
                                           {1, 1, 2},
                                           {1, 2, -1},
                                           {2, 0, -1},
                                           {2, 1, -1},
                                           {2, 2, 2},
                                           {3, 0, 0},
                                           {3, 3, 1}}));
  EXPECT_EQ(beside.definiteness, Definiteness::possibly);
  EXPECT_EQ(beside.definiteness_reason, "possibly positive definite");
}

TEST(AnalyzeDefiniteness, is_refuted_by_a_diagonal_entry) {
  expect_definiteness(matrix<double>({{3, 1}, {1, -1}}), Definiteness::not_positive_definite,
                      "not positive definite: a(1, 1) = -1 is not positive");
  expect_definiteness(matrix<double>({{3, 1}, {1, 0}}), Definiteness::not_positive_definite,
                      "not positive definite: a(1, 1) = 0 is not positive");
}

TEST(AnalyzeDefiniteness, is_refuted_by_a_pair_of_rows) {
  expect_definiteness(matrix<double>({{1, 0, 2}, {0, 1, 0}, {2, 0, 3}}), Definiteness::not_positive_definite,
                      "not positive definite: |a(0, 2)|^2 >= a(0, 0) a(2, 2)");
  expect_definiteness(matrix<double>({{1e200, 2e200}, {2e200, 1e200}}), Definiteness::not_positive_definite,
                      "not positive definite: |a(0, 1)|^2 >= a(0, 0) a(1, 1)");
  expect_definiteness(matrix<double>({{1, 2}, {2, 4}}), Definiteness::not_positive_definite,
                      "not positive definite: |a(0, 1)|^2 >= a(0, 0) a(1, 1)");
  expect_definiteness(matrix<double>({{1, 2}, {2, 4.1}}), Definiteness::possibly, "possibly positive definite");
}

TEST(AnalyzeDefiniteness, asks_for_symmetry_first) {
  expect_definiteness(matrix<double>({{3, 1}, {2, 3}}), Definiteness::not_hermitian,
                      "not symmetric: a(0, 1) = 1, a(1, 0) = 2");
  EXPECT_EQ(look(matrix<Z>({{3, Z(1, 2)}, {Z(1, 2), 3}})).definiteness_reason,
            "not Hermitian: a(0, 1) = 1+2i, a(1, 0) = 1+2i");
}

// --- sizes and values ------------------------------------------------------------------------------------------------

TEST(AnalyzeShape, counts_rows_columns_and_bands) {
  const auto p = look(matrix<double>(5, 4, {{0, 0, 1}, {0, 2, 1}, {3, 0, 1}, {3, 2, 1}, {3, 3, 1}}));
  EXPECT_EQ(p.rows, 5);
  EXPECT_EQ(p.cols, 4);
  EXPECT_EQ(p.nnz, 5);
  EXPECT_EQ(p.shortest_row, 0);
  EXPECT_EQ(p.longest_row, 3);
  EXPECT_EQ(p.mean_row, 1);
  EXPECT_EQ(p.empty_rows, 3);
  EXPECT_EQ(p.empty_cols, 1);
  EXPECT_EQ(p.lower_bandwidth, 3);
  EXPECT_EQ(p.upper_bandwidth, 2);
}

TEST(AnalyzeShape, takes_matrices_without_rows_columns_or_entries) {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {3, 0}, {0, 3}, {2, 2}}) {
    const auto p = look(matrix<double>(rows, cols, {}));
    EXPECT_EQ(p.nnz, 0);
    EXPECT_EQ(p.empty_rows, rows);
    EXPECT_EQ(p.empty_cols, cols);
    EXPECT_EQ(p.missing_diagonal, std::min(rows, cols));
    EXPECT_EQ(p.frobenius_norm, 0);
    EXPECT_EQ(p.greatest_magnitude, 0);
    EXPECT_EQ(p.symmetric, rows == cols);
  }
}

TEST(AnalyzeValues, finds_what_is_not_finite_and_measures_the_rest) {
  const auto p = look(matrix<double>(3, 3, {{0, 0, 3}, {1, 2, -inf}, {2, 0, 4}, {2, 1, nan}, {2, 2, 0}}));
  EXPECT_EQ(p.non_finite, 2);
  const EntryPair first = p.first_non_finite.value_or(EntryPair{});
  EXPECT_EQ(first.row, 1);
  EXPECT_EQ(first.col, 2);
  EXPECT_EQ(first.value, Z(-inf));
  EXPECT_TRUE(std::isnan(first.mirror.real()));
  EXPECT_EQ(p.min_magnitude, 3);
  EXPECT_EQ(p.greatest_magnitude, 4);
  EXPECT_EQ(p.stored_zeros, 1);
  EXPECT_EQ(p.frobenius_norm, 5);
  EXPECT_EQ(p.infinity_norm, 4);
  EXPECT_EQ(p.definiteness, Definiteness::not_finite);
  EXPECT_EQ(p.definiteness_reason, "not finite: a(1, 2) = -inf");
  EXPECT_EQ(look(matrix<Z>({{Z(0, nan)}})).non_finite, 1);
}

TEST(AnalyzeValues, norms_of_huge_and_tiny_entries_neither_overflow_nor_vanish) {
  for (const double scale : {1e200, 1e-200}) {
    const auto p = look(matrix<double>({{3 * scale, 4 * scale}, {0, 12 * scale}}));
    EXPECT_NEAR(p.frobenius_norm, 13 * scale, 13 * scale * 4 * eps);
    EXPECT_EQ(p.infinity_norm, 12 * scale);
  }
}

template <class T>
class Analyze : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Analyze, Scalars);

void expect_equal(const MatrixProperties& a, const MatrixProperties& b) {
  EXPECT_EQ(a.pattern_symmetry, b.pattern_symmetry);
  EXPECT_EQ(a.symmetry_error, b.symmetry_error);
  EXPECT_EQ(a.hermitian_error, b.hermitian_error);
  EXPECT_EQ(a.dominant_rows, b.dominant_rows);
  EXPECT_EQ(a.definiteness_reason, b.definiteness_reason);
  EXPECT_EQ(a.shortest_row, b.shortest_row);
  EXPECT_EQ(a.longest_row, b.longest_row);
  EXPECT_EQ(a.frobenius_norm, b.frobenius_norm);
  EXPECT_EQ(a.infinity_norm, b.infinity_norm);
  EXPECT_EQ(a.empty_cols, b.empty_cols);
  ASSERT_EQ(a.not_symmetric.has_value(), b.not_symmetric.has_value());
  const EntryPair pair = b.not_symmetric.value_or(EntryPair{});
  if (a.not_symmetric) expect_pair(a.not_symmetric, pair.row, pair.col, pair.value, pair.mirror);
}

TYPED_TEST(Analyze, every_number_of_threads_finds_the_same) {
  for (const GeneratorOptions& options :
       {GeneratorOptions(RandomDominantOptions{9000}), GeneratorOptions(RandomSpdOptions{9000}),
        GeneratorOptions(PowerLawLaplacianOptions{9000})}) {
    const auto A = generate<TypeParam>(options);
    const auto one = analyze(Host{1, {}, nullptr}, A);
    for (const int threads : {2, 3}) expect_equal(one, analyze(Host{threads, {}, nullptr}, A));
  }
}

TYPED_TEST(Analyze, every_format_shows_the_same) {
  using T = TypeParam;
  const std::vector<Entry<T>> entries{{0, 0, T(2)}, {0, 3, T(1)}, {2, 1, T(5)}, {2, 2, T(-3)}, {3, 0, T(1.5)}};
  const auto csr = look(matrix<T>(5, 5, entries)), wide = look(matrix<T, std::int64_t>(5, 5, entries));
  const auto coo =
      look(AnyMatrix<T>(Coo<T>(5, 5, Array<std::int32_t>{0, 0, 2, 2, 3}, Array<std::int32_t>{0, 3, 1, 2, 0},
                               Array<T>{T(2), T(1), T(5), T(-3), T(1.5)})));
  expect_equal(csr, wide);
  expect_equal(csr, coo);
  EXPECT_EQ(coo.empty_rows, 2);
}

TYPED_TEST(Analyze, agrees_with_a_dense_search_on_nasty_shapes) {
  for (const auto& shape : test::nasty_shapes()) {
    SCOPED_TRACE(shape.name);
    if (static_cast<std::int64_t>(shape.rows) * shape.cols > 4'000'000) continue;
    const auto A = test::random_csr<TypeParam>(11, shape);
    const auto stored = test::reference(A);
    const auto p = analyze<TypeParam>(two_threads, A.clone());
    const auto rows = static_cast<std::size_t>(stored.rows), cols = static_cast<std::size_t>(stored.cols);
    std::vector<Z> dense(rows * cols);
    std::vector<double> sums(rows);
    std::vector<std::int64_t> lengths(rows), heights(cols);
    double squares = 0, defect = 0, greatest = 0;
    for (std::size_t k = 0; k < stored.value.size(); ++k) {
      const auto i = static_cast<std::size_t>(stored.row[k]), j = static_cast<std::size_t>(stored.col[k]);
      dense[i * cols + j] = stored.value[k];
      sums[i] += std::abs(stored.value[k]), squares += std::norm(stored.value[k]);
      greatest = std::max(greatest, std::abs(stored.value[k]));
      ++lengths[i], ++heights[j];
    }
    if (rows == cols)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < i; ++j)
          defect = std::max(defect, std::abs(dense[i * cols + j] - dense[j * cols + i]));
    const double slack = static_cast<double>(stored.value.size() + 4) * eps;
    EXPECT_NEAR(p.frobenius_norm, std::sqrt(squares), slack * std::sqrt(squares));
    EXPECT_NEAR(p.symmetry_error, greatest > 0 ? defect / greatest : 0, 4 * eps * 2);
    std::int64_t small = 0;
    for (std::size_t i = 0; i < std::min(rows, cols); ++i) {
      double most = 0;
      for (std::size_t j = 0; j < cols; ++j) most = std::max(most, std::abs(dense[i * cols + j]));
      for (std::size_t k = 0; k < rows; ++k) most = std::max(most, std::abs(dense[k * cols + i]));
      const double size = std::abs(dense[i * cols + i]);
      small += size == 0 || size < 0.01 * most;
    }
    EXPECT_EQ(p.small_diagonal, small);
    if (rows == cols) {
      std::optional<EntryPair> first;
      for (std::size_t k = 0; k < stored.value.size(); ++k) {  // row after row
        const auto i = static_cast<std::size_t>(stored.row[k]), j = static_cast<std::size_t>(stored.col[k]);
        if (!first && dense[i * cols + j] != dense[j * cols + i])
          first = {{stored.row[k], stored.col[k], dense[i * cols + j], dense[j * cols + i]}};
      }
      ASSERT_EQ(p.not_symmetric.has_value(), first.has_value());
      if (first) expect_pair(p.not_symmetric, first->row, first->col, first->value, first->mirror);
    }
    EXPECT_EQ(p.empty_rows, std::ranges::count(lengths, 0));
    EXPECT_EQ(p.empty_cols, std::ranges::count(heights, 0));
    if (rows > 0) {
      const double norm = std::ranges::max(sums);
      EXPECT_NEAR(p.infinity_norm, norm, slack * norm);
      EXPECT_EQ(p.longest_row, std::ranges::max(lengths));
      EXPECT_EQ(p.shortest_row, std::ranges::min(lengths));
    }
  }
}

}  // namespace
}  // namespace krill
