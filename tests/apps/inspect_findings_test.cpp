// The graph of a pattern, levels, and the diagnosis of matrices that are made to hurt.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "apps/inspect/findings.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/solve_support.hpp"
#include "tests/support/random.hpp"

namespace krill::apps {
namespace {

using test::Scratch;

/// Rows of columns, values all 1.
AnyMatrix<double> pattern_matrix(std::int32_t cols, const std::vector<std::vector<std::int32_t>>& rows) {
  std::vector<std::int32_t> offsets{0}, columns;
  for (const auto& row : rows) {
    columns.insert(columns.end(), row.begin(), row.end());
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  std::vector<double> values(columns.size(), 1.0);
  return Csr<double>(cols, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(columns)),
                     Array<double>(std::move(values)));
}

template <class T, class Offset>
PatternView<Offset> pattern_of(const Csr<T, Offset>& A) {
  return {A.rows(), A.cols(), A.row_offsets().host(), A.col_indices().host()};
}

/// The most rows from `row` on that find columns which `taken` leaves, by trying everything.
std::int32_t rank_by_trying(const PatternView<std::int32_t>& A, std::int32_t row, std::uint32_t taken) {
  if (row == A.rows) return 0;
  std::int32_t best = rank_by_trying(A, row + 1, taken);
  for (const std::int32_t j : A.row(row))
    if (!(taken >> j & 1U)) best = std::max(best, 1 + rank_by_trying(A, row + 1, taken | 1U << j));
  return best;
}

TEST(Graph, structural_rank_is_that_of_trying_everything) {
  std::mt19937_64 engine(7);
  for (int trial = 0; trial < 300; ++trial) {
    const auto n = static_cast<std::int32_t>(1 + engine() % 8);
    std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
    for (auto& row : rows)
      for (std::int32_t j = 0; j < n; ++j)
        if (engine() % 10 < 2) row.push_back(j);
    const AnyMatrix<double> A = pattern_matrix(n, rows);
    const auto pattern = pattern_of(std::get<Csr<double>>(A));
    const auto found = structural_rank(pattern);
    ASSERT_TRUE(found) << trial;
    EXPECT_EQ(found->rank, rank_by_trying(pattern, 0, 0)) << trial;
    EXPECT_EQ(found->vertical.rows.empty(), found->rank == n) << trial;
  }
}

TEST(Graph, a_long_chain_of_changes_is_followed) {
  // Row i has columns i and i + 1, the last row column 0 alone: every other row has to move on.
  const std::int32_t n = 50'000;
  std::vector<std::vector<std::int32_t>> rows;
  for (std::int32_t i = 0; i + 1 < n; ++i) rows.push_back({i, i + 1});
  rows.push_back({0});
  const AnyMatrix<double> A = pattern_matrix(n, rows);
  EXPECT_EQ(structural_rank(pattern_of(std::get<Csr<double>>(A)))->rank, n);
}

TEST(Graph, components_are_counted_whatever_the_order) {
  // Three rings of 5, 20 and 3 rows and two rows alone, shuffled.
  const std::vector<std::int32_t> sizes{5, 20, 3, 1, 1};
  const std::int32_t n = std::accumulate(sizes.begin(), sizes.end(), 0);
  const std::vector<std::int32_t> place = krill::test::shuffled(3, n);
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
  std::int32_t first = 0;
  for (const std::int32_t size : sizes) {
    for (std::int32_t k = 0; k < size; ++k)
      rows[static_cast<std::size_t>(place[static_cast<std::size_t>(first + k)])].push_back(
          place[static_cast<std::size_t>(first + (k + 1) % size)]);
    first += size;
  }
  const AnyMatrix<double> A = pattern_matrix(n, rows);
  const Components found = components(pattern_of(std::get<Csr<double>>(A)));
  EXPECT_EQ(found.count, 5);
  EXPECT_EQ(found.largest, 20);
  EXPECT_EQ(found.single, 2);
  ASSERT_TRUE(found.first_outside);
  const auto in_largest = [&](std::int32_t row) {
    return std::find(place.begin() + 5, place.begin() + 25, row) != place.begin() + 25;
  };
  for (std::int32_t row = 0; row < *found.first_outside; ++row) EXPECT_TRUE(in_largest(row));
  EXPECT_FALSE(in_largest(*found.first_outside));
}

TEST(Levels, of_a_grid_are_diagonals_in_natural_order_and_colors_in_color_order) {
  Poisson2dOptions grid;
  grid.nx = 30, grid.ny = 20;
  const AnyMatrix<double> A = generate<double>(grid);
  Context host = Context::host();
  const auto orders = levels_by_order(host, std::get<Csr<double>>(A));
  ASSERT_EQ(orders.size(), 3U);
  EXPECT_EQ(orders[0].order, "none");
  EXPECT_EQ(orders[0].lower, 30 + 20 - 1);
  EXPECT_EQ(orders[0].upper, 30 + 20 - 1);
  EXPECT_EQ(orders[0].widest, 20);
  EXPECT_EQ(orders[2].order, "color");
  EXPECT_EQ(orders[2].colors, 2);
  EXPECT_EQ(orders[2].lower, 2);
  EXPECT_EQ(orders[2].upper, 2);
}

/// The names of the findings about a matrix in a file, the worst first.
class Findings : public ::testing::Test {
 protected:
  template <class T = double>
  std::vector<Finding> of(const std::string& text) {
    MatrixInput<T> input = read_matrix<T>(scratch_.write("A.mtx", text));
    CanonicalReport report;
    const AnyMatrix<T> A = assemble(std::move(input.matrix), report);
    Context host = Context::host();
    const MatrixProperties m = analyze(host.host_tag(), A);
    return diagnose(m, look_at_structure(host, A, m, false));
  }
  static const Finding* find(const std::vector<Finding>& all, const std::string& name) {
    const auto at = std::ranges::find(all, name, &Finding::name);
    return at == all.end() ? nullptr : &*at;
  }
  static std::string names(const std::vector<Finding>& all) {
    std::string text;
    for (const Finding& f : all) text += f.name + " ";
    return text;
  }
  static std::string general(std::int32_t rows, std::int32_t cols, const std::vector<std::string>& entries) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) + " " +
                       std::to_string(cols) + " " + std::to_string(entries.size()) + "\n";
    for (const std::string& entry : entries) text += entry + "\n";
    return text;
  }
  Scratch scratch_;
};

TEST_F(Findings, a_harmless_matrix_has_notes_at_most) {
  Poisson2dOptions grid;
  grid.nx = 20, grid.ny = 20;
  const AnyMatrix<double> A = generate<double>(grid);
  Context host = Context::host();
  const MatrixProperties m = analyze(host.host_tag(), A);
  const auto all = diagnose(m, look_at_structure(host, A, m, false));
  EXPECT_EQ(names(all), "multigrid narrow_levels ");
  EXPECT_EQ(all.front().severity, Severity::note);
}

/// Diffusion with a flow across it: multigrid is for what is nearly symmetric, and flow is told as soon as it decides.
TEST_F(Findings, tell_diffusion_from_flow) {
  const auto of_flow = [](double peclet, Convection scheme, int nx) {
    ConvectionDiffusion2dOptions grid;
    grid.nx = grid.ny = nx, grid.peclet = peclet, grid.scheme = scheme;
    const AnyMatrix<double> A = generate<double>(grid);
    Context host = Context::host();
    const MatrixProperties m = analyze(host.host_tag(), A);
    return diagnose(m, look_at_structure(host, A, m, false));
  };
  for (const Convection scheme : {Convection::upwind, Convection::central}) {
    for (const double peclet : {0.0, 0.1, 5.0}) {
      const auto all = of_flow(peclet, scheme, 40);
      EXPECT_FALSE(find(all, "flow")) << peclet;
      ASSERT_TRUE(find(all, "multigrid")) << peclet;
      EXPECT_EQ(find(all, "multigrid")->remedy.find("with solver bicgstab") != std::string::npos, peclet > 0);
      EXPECT_EQ(find(all, "multigrid")->what, "multigrid would help, were the matrix larger or its rows shorter");
    }
    for (const double peclet : {100.0, 1e3, 1e4}) {
      const auto all = of_flow(peclet, scheme, 40);
      EXPECT_FALSE(find(all, "multigrid")) << peclet;
      ASSERT_TRUE(find(all, "flow")) << peclet;
      EXPECT_EQ(find(all, "flow")->severity, Severity::note);
      const bool dominant = scheme == Convection::upwind || peclet < 1000;  // central differences of a fast flow
      EXPECT_TRUE(find(all, "flow")->remedy.starts_with(dominant ? "ilu0" : "ilut")) << find(all, "flow")->remedy;
    }
  }
  const auto large = of_flow(20, Convection::upwind, 180);  // the same flow is weaker on a finer grid
  ASSERT_TRUE(find(large, "multigrid"));
  EXPECT_EQ(find(large, "multigrid")->what, "multigrid suits this matrix on the host");
  EXPECT_NE(find(large, "multigrid")->why.find("and flow is weak beside it"), std::string::npos);
}

TEST_F(Findings, say_first_what_forbids_a_solve) {
  const auto all = of(general(3, 3, {"1 1 1", "2 2 nan", "3 1 0"}));
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().severity, Severity::error);
  ASSERT_TRUE(find(all, "not_finite"));
  EXPECT_EQ(find(all, "not_finite")->row, 1);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Finding::severity));
}

TEST_F(Findings, tell_missing_from_zero_diagonals_with_the_first_row) {
  const auto all = of(general(4, 4, {"1 1 1", "2 1 3", "2 3 1", "3 2 1", "3 3 0", "4 4 2"}));
  ASSERT_TRUE(find(all, "missing_diagonal"));
  EXPECT_EQ(find(all, "missing_diagonal")->row, 1);
  ASSERT_TRUE(find(all, "zero_diagonal"));
  EXPECT_EQ(find(all, "zero_diagonal")->row, 2);
}

TEST_F(Findings, see_saddle_points) {
  const std::vector<std::string> coupled{"1 1 2", "2 2 2", "1 3 1", "3 1 1", "2 4 1", "4 2 1"};
  const auto saddle = of(general(4, 4, coupled));
  ASSERT_TRUE(find(saddle, "saddle_point")) << names(saddle);
  EXPECT_EQ(find(saddle, "saddle_point")->what, "a saddle point: 2 of 4 rows are constraints, whose diagonal is 0");
  EXPECT_NE(find(saddle, "saddle_point")->remedy.find("form: least_squares"), std::string::npos);
  std::vector<std::string> stabilized = coupled;
  stabilized.insert(stabilized.end(), {"3 3 -1", "3 4 1", "4 3 1", "4 4 -1"});
  const auto with_c = of(general(4, 4, stabilized));
  ASSERT_TRUE(find(with_c, "saddle_point")) << names(with_c);
  EXPECT_EQ(find(with_c, "saddle_point")->what,
            "a saddle point: 2 of 4 rows are constraints, whose diagonal is 0 or negative");
  EXPECT_EQ(find(with_c, "saddle_point")->remedy.find("form: least_squares"), std::string::npos);
  std::vector<std::string> meeting = coupled, one_sided = coupled;
  meeting.insert(meeting.end(), {"3 4 1", "4 3 1"});
  EXPECT_FALSE(find(of(general(4, 4, meeting)), "saddle_point"));
  one_sided.emplace_back("3 2 1");
  EXPECT_FALSE(find(of(general(4, 4, one_sided)), "saddle_point"));
  EXPECT_FALSE(find(of(general(2, 2, {"1 1 2", "2 2 2"})), "saddle_point"));
}

TEST_F(Findings, name_empty_lines_and_structural_singularity) {
  const auto empty = of(general(3, 3, {"1 1 1", "3 3 1"}));
  EXPECT_TRUE(find(empty, "empty_lines")) << names(empty);
  // Rows 1 and 2 share column 0 alone.
  const auto shared = of(general(3, 3, {"1 1 1", "1 2 1", "1 3 1", "2 1 1", "3 1 2"}));
  ASSERT_TRUE(find(shared, "structurally_singular")) << names(shared);
  EXPECT_EQ(find(shared, "structurally_singular")->what, "structural rank 2 of 3");
}

TEST_F(Findings, see_that_ones_are_a_null_vector) {
  EXPECT_TRUE(find(of(general(2, 2, {"1 1 1", "1 2 -1", "2 1 -1", "2 2 1"})), "null_vector_of_ones"));
  EXPECT_FALSE(find(of(general(2, 2, {"1 1 1", "1 2 -1", "2 1 -1", "2 2 2"})), "null_vector_of_ones"));
}

TEST_F(Findings, tell_indefinite_from_negative_and_nearly_symmetric) {
  const auto indefinite = of(general(2, 2, {"1 1 1", "1 2 2", "2 1 2", "2 2 1"}));
  EXPECT_TRUE(find(indefinite, "indefinite")) << names(indefinite);
  const auto negative = of(general(2, 2, {"1 1 -2", "1 2 1", "2 1 1", "2 2 -2"}));
  EXPECT_TRUE(find(negative, "negative_diagonal")) << names(negative);
  EXPECT_FALSE(find(negative, "indefinite"));
  const auto nearly = of(general(2, 2, {"1 1 2", "1 2 1", "2 1 1.000000001", "2 2 2"}));
  ASSERT_TRUE(find(nearly, "nearly_hermitian")) << names(nearly);
  EXPECT_EQ(find(nearly, "nearly_hermitian")->row, 0);
  EXPECT_FALSE(find(of(general(2, 2, {"1 1 2", "1 2 1", "2 1 1.5", "2 2 2"})), "nearly_hermitian"));
}

TEST_F(Findings, measure_scaling_before_and_after) {
  // Two blocks of units nine decades apart: scaling makes all rows alike.
  const auto all = of(general(4, 4, {"1 1 2e9", "1 2 1e9", "2 1 1e9", "2 2 2e9", "3 3 2", "3 4 1", "4 3 1", "4 4 2"}));
  ASSERT_TRUE(find(all, "bad_scaling")) << names(all);
  EXPECT_TRUE(test::contains(find(all, "bad_scaling")->what, "9.0 decades"));
  EXPECT_EQ(find(all, "bad_scaling")->remedy, "scaling: {type: ruiz} leaves 0.0 decades");
  EXPECT_TRUE(find(all, "disconnected"));
}

TEST_F(Findings, see_values_that_float32_cannot_hold) {
  const auto all = of(general(2, 2, {"1 1 1e39", "1 2 1", "2 2 1e-40"}));
  EXPECT_TRUE(find(all, "float32_overflow") && find(all, "float32_underflow")) << names(all);
}

TEST_F(Findings, see_dense_rows_and_columns) {
  std::vector<std::string> entries;
  const int n = 400;
  for (int i = 1; i <= n; ++i) entries.push_back(std::to_string(i) + " " + std::to_string(i) + " 2");
  for (int j = 1; j <= n; ++j)
    if (j != 8) entries.push_back("8 " + std::to_string(j) + " 0.001");
  const auto all = of(general(n, n, entries));
  ASSERT_TRUE(find(all, "dense_rows")) << names(all);
  EXPECT_EQ(find(all, "dense_rows")->row, 7);
  EXPECT_FALSE(find(all, "dense_cols"));
}

TEST_F(Findings, see_blocks) {
  Elasticity3dOptions body;
  body.nx = body.ny = body.nz = 4;
  const AnyMatrix<double> A = generate<double>(body);
  Context host = Context::host();
  const MatrixProperties m = analyze(host.host_tag(), A);
  const Structure s = look_at_structure(host, A, m, false);
  EXPECT_EQ(s.block_dim, 3);
  EXPECT_GT(s.block_fill, 2.0 / 3);
  EXPECT_TRUE(find(diagnose(m, s), "blocks"));
}

TEST_F(Findings, see_that_a_complex_matrix_is_real) {
  const auto all =
      of<std::complex<double>>("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 3 0\n2 2 2 0\n");
  EXPECT_TRUE(find(all, "real_values")) << names(all);
}

}  // namespace
}  // namespace krill::apps
