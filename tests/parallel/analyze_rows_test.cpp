#include "sparse/parallel/analyze_rows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/io/triplets.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

using Z = std::complex<double>;

bool are_equal(const std::optional<EntryPair>& a, const std::optional<EntryPair>& b) {
  const auto same = [](Z p, Z q) { return p == q || (p != p && q != q); };
  if (!a || !b) return a.has_value() == b.has_value();
  return a->row == b->row && a->col == b->col && same(a->value, b->value) && same(a->mirror, b->mirror);
}

void expect_same(const MatrixProperties& a, const MatrixProperties& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_EQ(a.nnz, b.nnz);
  EXPECT_EQ(a.complex, b.complex);
  EXPECT_EQ(a.pattern_symmetry, b.pattern_symmetry);
  EXPECT_EQ(a.symmetric_pattern, b.symmetric_pattern);
  EXPECT_EQ(a.symmetric, b.symmetric);
  EXPECT_EQ(a.skew, b.skew);
  EXPECT_EQ(a.hermitian, b.hermitian);
  EXPECT_TRUE(are_equal(a.not_symmetric, b.not_symmetric));
  EXPECT_TRUE(are_equal(a.not_skew, b.not_skew));
  EXPECT_TRUE(are_equal(a.not_hermitian, b.not_hermitian));
  EXPECT_TRUE(are_equal(a.far_from_hermitian, b.far_from_hermitian));
  EXPECT_EQ(a.symmetry_error, b.symmetry_error);
  EXPECT_EQ(a.hermitian_error, b.hermitian_error);
  EXPECT_EQ(a.missing_diagonal, b.missing_diagonal);
  EXPECT_EQ(a.zero_diagonal, b.zero_diagonal);
  EXPECT_EQ(a.first_missing_diagonal, b.first_missing_diagonal);
  EXPECT_EQ(a.first_zero_diagonal, b.first_zero_diagonal);
  EXPECT_EQ(a.positive_diagonal, b.positive_diagonal);
  EXPECT_EQ(a.first_not_positive_diagonal, b.first_not_positive_diagonal);
  EXPECT_EQ(a.not_positive_diagonal, b.not_positive_diagonal);
  EXPECT_EQ(a.negative_diagonal, b.negative_diagonal);
  EXPECT_EQ(a.min_diagonal, b.min_diagonal);
  EXPECT_EQ(a.greatest_diagonal, b.greatest_diagonal);
  EXPECT_EQ(a.dominant_rows, b.dominant_rows);
  EXPECT_EQ(a.strictly_dominant_rows, b.strictly_dominant_rows);
  EXPECT_EQ(a.small_diagonal, b.small_diagonal);
  EXPECT_EQ(a.indefinite_pair, b.indefinite_pair);
  EXPECT_EQ(a.definiteness, b.definiteness);
  EXPECT_EQ(a.definiteness_reason, b.definiteness_reason);
  EXPECT_EQ(a.shortest_row, b.shortest_row);
  EXPECT_EQ(a.longest_row, b.longest_row);
  EXPECT_EQ(a.mean_row, b.mean_row);
  EXPECT_EQ(a.empty_rows, b.empty_rows);
  EXPECT_EQ(a.empty_cols, b.empty_cols);
  EXPECT_EQ(a.lower_bandwidth, b.lower_bandwidth);
  EXPECT_EQ(a.upper_bandwidth, b.upper_bandwidth);
  EXPECT_EQ(a.stored_zeros, b.stored_zeros);
  EXPECT_EQ(a.non_finite, b.non_finite);
  EXPECT_TRUE(are_equal(a.first_non_finite, b.first_non_finite));
  EXPECT_EQ(a.min_magnitude, b.min_magnitude);
  EXPECT_EQ(a.greatest_magnitude, b.greatest_magnitude);
  EXPECT_EQ(a.infinity_norm, b.infinity_norm);
  EXPECT_EQ(a.min_row_norm, b.min_row_norm);
  EXPECT_EQ(a.null_rows, b.null_rows);
  EXPECT_EQ(a.constraint_rows, b.constraint_rows);
  // Sums of up to so many blocks, in another order.
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(a.frobenius_norm, b.frobenius_norm, 16 * epsilon * b.frobenius_norm);
  const bool is_full = b.missing_diagonal + b.zero_diagonal == 0;
  EXPECT_EQ(a.structure.has_value(), b.structure.has_value() && is_full);
  if (a.structure) {
    EXPECT_EQ(a.structure->rank, b.structure->rank);
  }
}

/// Of the matrix that ranks have rows of, of about as many, by each number of ranks.
template <class T>
void expect_as_alone(const AnyMatrix<T>& A, const std::string& what) {
  SCOPED_TRACE(what);
  const MatrixProperties alone = analyze(Host{1, {}, nullptr}, A);
  const std::int64_t n = rows(A);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    SCOPED_TRACE(ranks);
    std::vector<std::int64_t> offsets;
    for (int r = 0; r <= ranks; ++r) offsets.push_back(n * r * r / (ranks * ranks));
    const RowPartition partition(offsets);
    std::vector<MatrixProperties> found(static_cast<std::size_t>(ranks));
    run_team(ranks, [&](Team& team) {
      Context ctx = Context::host(1);
      const int me = team.rank();
      with_csr(ctx, A, [&](const auto& csr) {
        found[static_cast<std::size_t>(me)] =
            analyze_rows(ctx, team, partition, slice_rows(csr, partition.begin(me), partition.end(me)));
      });
    });
    for (const MatrixProperties& each : found) expect_same(each, alone);
  }
}

TEST(AnalyzeRows, says_of_model_problems_what_one_process_says) {
  for (const GeneratorOptions& options : std::vector<GeneratorOptions>{
           Poisson1dOptions{.nx = 300}, Poisson2dOptions{.nx = 17}, Poisson3dOptions{.nx = 6},
           ConvectionDiffusion2dOptions{.nx = 15}, Jumps3dOptions{.nx = 6}, Elasticity3dOptions{.nx = 3},
           Stokes2dOptions{.nx = 9}, RandomSpdOptions{.rows = 211}, RandomDominantOptions{.rows = 211},
           PowerLawLaplacianOptions{.rows = 211}, PowerLawLaplacianOptions{.rows = 100, .shift = 0},
           ResistorNetworkOptions{.nx = 14}, Poisson1dOptions{.nx = 2}, Poisson1dOptions{.nx = 1}})
    expect_as_alone(generate<double>(options), std::visit([](const auto& o) { return std::string(o.type); }, options));
  expect_as_alone(generate<Z>(Helmholtz2dOptions{.nx = 14}), "helmholtz2d");
  expect_as_alone(generate<Z>(RandomSpdOptions{.rows = 150}), "Hermitian");
  expect_as_alone(generate<float>(Poisson2dOptions{.nx = 14}), "float");
}

/// The poisson1d matrix with entries that are others, or more.
template <class T>
AnyMatrix<T> changed(std::int32_t n, const std::vector<std::tuple<std::int32_t, std::int32_t, T>>& added,
                     std::int32_t without_diagonal = -1) {
  Triplets<T> all;
  all.rows = all.cols = n;
  const auto add = [&](std::int32_t i, std::int32_t j, T value) {
    all.row.push_back(i), all.col.push_back(j), all.value.push_back(value);
  };
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) add(i, i - 1, -1);
    if (i != without_diagonal) add(i, i, 2);
    if (i + 1 < n) add(i, i + 1, -1);
  }
  for (const auto& [i, j, value] : added) add(i, j, value);
  CanonicalReport report;
  return assemble(std::move(all), report);
}

TEST(AnalyzeRows, says_of_what_is_odd_what_one_process_says) {
  constexpr std::int32_t n = 120;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  expect_as_alone(changed<double>(n, {{110, 3, 0.5}}), "an entry without a mirror, below");
  expect_as_alone(changed<double>(n, {{3, 110, 0.5}}), "an entry without a mirror, above");
  expect_as_alone(changed<double>(n, {{3, 110, 0.5}, {110, 3, 0.5 + 1e-12}}), "a mirror that differs by rounding");
  expect_as_alone(changed<double>(n, {{3, 110, 0.5}, {110, 3, -0.5}}), "a skew pair");
  expect_as_alone(changed<double>(n, {{3, 110, 3}, {110, 3, 3}}), "an indefinite pair");
  expect_as_alone(changed<double>(n, {{3, 110, 0}, {110, 3, 0}}), "zeros that are stored");
  expect_as_alone(changed<double>(n, {{90, 90, -5}}), "a negative diagonal entry");
  expect_as_alone(changed<double>(n, {{90, 90, -2}}), "a zero on the diagonal");
  expect_as_alone(changed<double>(n, {}, 70), "a missing diagonal entry");
  expect_as_alone(changed<double>(n, {{50, 50, 1e5}, {50, 20, 1e4}}), "a large row");
  expect_as_alone(changed<double>(n, {{100, 99, nan}, {2, 2, 1.0 / 0.0}}), "entries that are not finite");
  expect_as_alone(changed<double>(n, {{0, 0, -1}}), "one strictly dominant row, the last");
  expect_as_alone(changed<double>(n, {{n - 1, n - 1, -1}}), "one strictly dominant row, the first");
  expect_as_alone(changed<double>(n, {{0, 0, -1}, {n - 1, n - 1, -1}}), "rows that add up to 0");
  expect_as_alone(changed<double>(n, {{0, 0, -1}, {59, 60, 1}, {60, 59, 1}, {59, 59, -1}, {60, 60, -1}}),
                  "a part without a strictly dominant row");
  expect_as_alone(changed<Z>(n, {{7, 100, Z(0, 1)}, {100, 7, Z(0, -1)}}), "Hermitian");
  expect_as_alone(changed<Z>(n, {{7, 7, Z(0, 1)}}), "a diagonal that is not real");
  Triplets<double> empty_lines;
  empty_lines.rows = empty_lines.cols = 40;
  for (const std::int32_t i : {1, 5, 30}) {
    empty_lines.row.push_back(i), empty_lines.col.push_back(i == 5 ? 33 : i), empty_lines.value.push_back(1);
  }
  CanonicalReport report;
  expect_as_alone(assemble(std::move(empty_lines), report), "empty rows and columns");
}

/// Chains that lead through all ranks to and fro: rows are numbered so that neighbors lie far apart.
TEST(AnalyzeRows, follows_ways_through_all_ranks) {
  constexpr std::int32_t n = 97, stride = 41;
  Triplets<double> chain;
  chain.rows = chain.cols = n;
  const auto add = [&](std::int32_t i, std::int32_t j, double value) {
    chain.row.push_back(i * stride % n), chain.col.push_back(j * stride % n), chain.value.push_back(value);
  };
  for (std::int32_t i = 0; i < n; ++i) {
    add(i, i, i == 0 ? 2 : i + 1 < n ? 2 : 1);
    if (i > 0) add(i, i - 1, -1), add(i - 1, i, -1);
  }
  CanonicalReport report;
  const AnyMatrix<double> A = assemble(std::move(chain), report);
  EXPECT_EQ(analyze(Host{1, {}, nullptr}, A).definiteness, Definiteness::positive_definite);
  expect_as_alone(A, "a chain");
}

TEST(AnalyzeRows, refuses_rows_that_do_not_fit) {
  const AnyMatrix<double> A = generate<double>(Poisson1dOptions{.nx = 8});
  EXPECT_EQ(complaint<ShapeMismatch>([&] {
              run_team(2, [&](Team& team) {
                Context ctx = Context::host(1);
                analyze_rows(ctx, team, RowPartition({0, 4, 8}), slice_rows(std::get<Csr<double>>(A), 0, 3));
              });
            }),
            "analyze: own rows has 3 entries, 4 are needed");
}

}  // namespace
}  // namespace krill::test
