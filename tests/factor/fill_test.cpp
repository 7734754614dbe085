#include "sparse/factor/fill.hpp"

#include <limits>

#include "apps/verify/references/fill.hpp"
#include "tests/factor/factors.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

constexpr int any_level = std::numeric_limits<int>::max();

/// Levels of all places by elimination in a dense matrix, columns of the pattern by rows.
template <class T, class Offset>
std::vector<std::vector<std::int32_t>> eliminated(const Csr<T, Offset>& A, Factorization kind, int level) {
  const auto n = static_cast<std::size_t>(A.rows());
  constexpr std::int64_t never = 1'000'000'000;
  std::vector<std::vector<std::int64_t>> levels(n, std::vector<std::int64_t>(n, never));
  const bool lu = kind == Factorization::ilu0;
  const Reference entries = reference(A);
  for (std::size_t k = 0; k < entries.row.size(); ++k) {
    const auto i = static_cast<std::size_t>(entries.row[k]), j = static_cast<std::size_t>(entries.col[k]);
    if (lu || j <= i) levels[i][j] = 0;
    if (!lu && j <= i) levels[j][i] = 0;
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = k + 1; j < n; ++j) levels[i][j] = std::min(levels[i][j], levels[i][k] + levels[k][j] + 1);
  std::vector<std::vector<std::int32_t>> rows(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < (lu ? n : i + 1); ++j)
      if (levels[i][j] <= level && levels[i][j] < never) rows[i].push_back(static_cast<std::int32_t>(j));
  return rows;
}

/// The pattern, A's values in their places, zeros in the others.
template <class T, class Offset>
void expect_filled(const Csr<T, Offset>& A, const Csr<T, Offset>& filled, Factorization kind, int level) {
  validate(filled);
  const verify::Rows<T> a = verify::rows_of(A), found = verify::rows_of(filled);
  const auto expected = eliminated(A, kind, level);
  for (std::int32_t i = 0; i < A.rows(); ++i)
    ASSERT_EQ(std::vector<std::int32_t>(found.col.begin() + static_cast<std::ptrdiff_t>(found.begin(i)),
                                        found.col.begin() + static_cast<std::ptrdiff_t>(found.end(i))),
              expected[static_cast<std::size_t>(i)])
        << "row " << i;
  found.for_places([&](std::int32_t i, std::size_t k) { ASSERT_EQ(found.value[k], a.at(i, found.col[k])); });
  const verify::Rows<T> by_rows = verify::with_fill(a, kind, level);
  EXPECT_EQ(by_rows.col, found.col) << "the reference of krill verify";
  EXPECT_EQ(by_rows.value, found.value);
}

using Filled = OnBackendAndScalar;

TEST_P(Filled, patterns_are_those_of_elimination_in_a_dense_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (Shape shape : square_shapes()) {
      if (shape.rows > 100) continue;  // cubes of that many operations
      for (const bool has_diagonal : {false, true}) {
        auto A = random_csr<T, std::int64_t>(1, shape);
        if (has_diagonal) A = solvable(2, A);
        for (const Factorization kind : both_kinds)
          for (const int level : {0, 1, 2, 5, any_level}) {
            SCOPED_TRACE(fmt::format("{}, {}, level {}", shape.name, kind == Factorization::ic0 ? "ic" : "ilu", level));
            expect_filled(A, FilledMatrix<T, std::int64_t>(ctx, A, kind, level).matrix(), kind, level);
          }
      }
    }
    for (const Csr<T>& A : {random_hpd<T>(3, 70, 4), poisson2d<T>(8).clone(), random_dominant<T>(4, 60, 3)})
      for (const Factorization kind : both_kinds)
        for (const int level : {0, 1, 2, 3, 9})
          expect_filled(A, FilledMatrix<T>(ctx, A, kind, level).matrix(), kind, level);
  });
}

/// The factors' product is A in the whole pattern, the zeros of fill included. Without fill it is the factor of A.
TEST_P(Filled, factors_are_those_of_the_pattern) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Csr<T>& given : {random_hpd<T>(5, 400, 5), poisson2d<T>(25).clone(), random_hpd<T>(6, 200, 30)}) {
      const Csr<T> A = solvable(7, given, true);
      for (const Factorization kind : both_kinds)
        for (const int level : {0, 1, 3}) {
          const FilledMatrix<T> filled(ctx, A, kind, level);
          const IncompleteFactor<T> factor(ctx, filled.matrix(), kind);
          EXPECT_EQ(factor.zero_pivot(), std::nullopt);
          expect_factors(filled.matrix(), factor.matrix(), kind);
          if (level > 0) continue;
          const verify::Rows<T> with = verify::rows_of(factor.matrix()),
                                without = verify::rows_of(IncompleteFactor<T>(ctx, A, kind).matrix());
          with.for_places([&](std::int32_t i, std::size_t k) { ASSERT_EQ(with.value[k], without.at(i, with.col[k])); });
          EXPECT_EQ(filled.fill_ratio(), 1);
        }
    }
  });
}

TEST_P(Filled, values_follow_and_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(8, random_dominant<T>(9, 300, 5), true);
    Csr<T> other = A.clone();
    for (T& value : other.values().edit()) value *= T(4);
    for (const Factorization kind : both_kinds) {
      FilledMatrix<T> filled(ctx, A, kind, 2);
      IncompleteFactor<T> factor(ctx, filled.matrix(), kind);
      const auto first = contents(factor.matrix().values());
      const auto follow = [&](const Csr<T>& values) {
        filled.update(ctx, values), factor.update(ctx, filled.matrix());
      };
      follow(other);
      expect_factors(filled.matrix(), factor.matrix(), kind);
      EXPECT_EQ(contents(filled.matrix().values()), contents(FilledMatrix<T>(ctx, other, kind, 2).matrix().values()));
      const auto second = contents(factor.matrix().values());
      run_skipped(ctx, [&] { follow(A); });
      EXPECT_EQ(contents(factor.matrix().values()), second);
      replay(ctx, [&] { follow(A); });
      EXPECT_EQ(contents(factor.matrix().values()), first);
      EXPECT_THROW(filled.update(ctx, poisson2d<T>(4)), ShapeMismatch);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Filled, backends_and_scalars, param_name);

/// Of the grid's 5 points, level 1 fills the two that elimination of a neighbor joins. Threads take blocks of rows.
TEST(FilledHost, counts_and_threads) {
  Context one = Context::host(1), four = Context::host(4);
  constexpr std::int32_t n = 200;
  const Csr<double> A = poisson2d<double>(n);
  const std::int64_t entries = A.nnz() + 2 * (n - 1) * (n - 1);
  for (const Factorization kind : both_kinds) {
    const FilledMatrix<double> filled(one, A, kind, 1), by_four(four, A, kind, 1);
    const std::int64_t lower = (entries + A.rows()) / 2, of_a = (A.nnz() + A.rows()) / 2;
    const bool lu = kind == Factorization::ilu0;
    EXPECT_EQ(filled.matrix().nnz(), lu ? entries : lower);
    EXPECT_DOUBLE_EQ(filled.fill_ratio(), lu ? static_cast<double>(entries) / static_cast<double>(A.nnz())
                                             : static_cast<double>(lower) / static_cast<double>(of_a));
    EXPECT_EQ(contents(by_four.matrix().row_offsets()), contents(filled.matrix().row_offsets()));
    EXPECT_EQ(contents(by_four.matrix().col_indices()), contents(filled.matrix().col_indices()));
    EXPECT_EQ(FilledMatrix<double>(one, A, kind, 0).fill_ratio(), 1);
  }
}

TEST(FilledHost, what_does_not_fit_is_refused) {
  Context ctx = Context::host(2);
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(FilledMatrix<double>(ctx, wide, Factorization::ilu0, 1), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(40), B = random_dominant<double>(10, 500, 5);
  EXPECT_NE(
      complaint<InvalidArgument>([&] { FilledMatrix<double>(ctx, A, Factorization::ilu0, -1); }).find("level is -1"),
      std::string::npos);
  for (const Csr<double>* matrix : {&A, &B})
    for (const Factorization kind : both_kinds) {
      const auto nnz = static_cast<std::size_t>(FilledMatrix<double>(ctx, *matrix, kind, 2).matrix().nnz());
      EXPECT_NO_THROW(FilledMatrix<double>(ctx, *matrix, kind, 2, {10 * nnz, 10}));
      const std::string text = complaint<OutOfMemory>([&] {
        FilledMatrix<double>(ctx, *matrix, kind, 2, {10 * nnz - 1, 10});
      });
      EXPECT_NE(text.find("what was counted of the fill of level 2 (a lower level has less) needs "), std::string::npos)
          << text;
      EXPECT_THROW(FilledMatrix<double>(ctx, *matrix, kind, any_level, {10 * nnz, 10}), OutOfMemory);
    }
}

/// Rows and columns that are not there, and a diagonal that only elimination makes.
TEST(FilledHost, gaps_and_diagonals_that_fill_up) {
  Context ctx = Context::host(1);
  const Csr<double> none(0, Array<std::int32_t>{0}, Array<std::int32_t>(), Array<double>());
  EXPECT_EQ(FilledMatrix<double>(ctx, none, Factorization::ilu0, 3).matrix().nnz(), 0);
  EXPECT_EQ(FilledMatrix<double>(ctx, none, Factorization::ilu0, 3).fill_ratio(), 1);
  const Csr<double> saddle(2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 0}, Array<double>{2, 4, 1});
  for (const int level : {0, 1}) {
    const FilledMatrix<double> filled(ctx, saddle, Factorization::ilu0, level);
    const IncompleteFactor<double> factor(ctx, filled.matrix(), Factorization::ilu0);
    EXPECT_EQ(factor.structural_zero().has_value(), level == 0);
    const std::vector<double> expected =
        level == 0 ? std::vector<double>{2, 4, 0.5} : std::vector<double>{2, 4, 0.5, -2};
    EXPECT_EQ(contents(factor.matrix().values()), expected);
  }
}

}  // namespace
}  // namespace krill::test
