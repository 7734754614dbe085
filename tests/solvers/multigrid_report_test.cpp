// What is told of levels, and of cycles by themselves.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>

#include "solvers/contraction.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/support/multigrid_oracle.hpp"

namespace krill::test {
namespace {

using MultigridReport = OnBackendAndScalar;

MultigridOptions told_levels(MultigridMethod method, int coarse_rows = 10) {
  MultigridOptions o;
  o.method = method, o.coarse_rows = coarse_rows;
  return o;
}

/// Edges of weight 1; on the diagonal a row's sum of them and `more`, or what `diagonal` says.
template <class T>
Csr<T> weighted_graph(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges, double more,
                      std::map<std::int32_t, double> diagonal = {}) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> entries;
  for (std::int32_t i = 0; i < n; ++i) entries[{i, i}] = more;
  for (const auto& [i, j] : edges) {
    entries[{i, j}] = entries[{j, i}] = -1;
    entries[{i, i}] += 1, entries[{j, j}] += 1;
  }
  for (const auto& [i, value] : diagonal) entries[{i, i}] = value;
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(n) + 1), columns;
  std::vector<T> values;
  for (const auto& [place, value] : entries) {
    ++offsets[static_cast<std::size_t>(place.first) + 1];
    columns.push_back(place.second), values.push_back(T(static_cast<real_t<T>>(value)));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) offsets[i + 1] += offsets[i];
  return {n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}
std::vector<std::pair<std::int32_t, std::int32_t>> line_of(std::int32_t first, std::int32_t end) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t i = first; i + 1 < end; ++i) edges.emplace_back(i, i + 1);
  return edges;
}

/// 8 x 8 x 8 points to 4 x 4 x 4 to 2 x 2 x 2, in boxes of eight: all figures by hand.
TEST_P(MultigridReport, has_the_figures_of_a_grid_in_boxes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(Poisson3dOptions{.nx = 8});
    const Hierarchy<T> hierarchy(ctx, told_levels(MultigridMethod::aggregation), {.A = A, .hermitian = true});
    const auto levels = hierarchy.reports();
    ASSERT_EQ(levels.size(), 3u);
    struct {
      std::int64_t rows, entries, longest, aggregates, least, transfer;
      double cycle;
    } const expected[]{// two steps before the coarser level from x = 0, a residual, two after it: four products
                       {512, 512 * 7 - 6 * 64, 7, 64, 8, 512, 4.0 * (512 * 7 - 6 * 64) + 2 * 512},
                       {64, 64 * 7 - 6 * 16, 7, 8, 8, 64, 4.0 * (64 * 7 - 6 * 16) + 2 * 64},
                       {8, 8 * 4, 4, 0, 0, 0, 8.0 * 8}};
    for (std::size_t l = 0; l < 3; ++l) {
      EXPECT_EQ(levels[l].rows, expected[l].rows);
      EXPECT_EQ(levels[l].entries, expected[l].entries);
      EXPECT_EQ(levels[l].longest_row, expected[l].longest);
      EXPECT_EQ(levels[l].aggregates, expected[l].aggregates);
      EXPECT_EQ(levels[l].least_aggregate, expected[l].least);
      EXPECT_EQ(levels[l].greatest_aggregate, expected[l].least);
      EXPECT_EQ(levels[l].aggregated, expected[l].transfer);
      EXPECT_EQ(levels[l].not_aggregated, 0);
      EXPECT_EQ(levels[l].transfer_entries, expected[l].transfer);
      EXPECT_EQ(levels[l].dead_columns, 0);
      EXPECT_EQ(levels[l].visits, 1);
      EXPECT_EQ(levels[l].cycle_entries, expected[l].cycle);
    }
    EXPECT_TRUE(hierarchy.notes().empty());
  });
}

/// Whatever the values are: by what the levels hold.
TEST_P(MultigridReport, counts_what_levels_hold) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const MultigridMethod method : {MultigridMethod::aggregation, MultigridMethod::smoothed_aggregation})
      for (const MultigridCycle cycle : {MultigridCycle::v, MultigridCycle::w}) {
        const AnyMatrix<T> A(weighted_graph<T>(200, line_of(0, 193), 0.1));  // and seven rows alone
        MultigridOptions options = told_levels(method);
        options.cycle = cycle;
        const Hierarchy<T> hierarchy(ctx, options, {.A = A, .hermitian = true});
        const auto& levels = hierarchy.levels();
        ASSERT_GE(levels.size(), 3u);
        for (std::size_t l = 0; l < levels.size(); ++l) {
          const LevelReport& found = levels[l]->report;
          const Csr<T>& a = std::get<Csr<T>>(l ? *levels[l]->A : A);
          const auto longest_of = [](const Csr<T>& m) {
            std::int64_t longest = 0;
            for (std::size_t i = 0; i < static_cast<std::size_t>(m.rows()); ++i)
              longest = std::max<std::int64_t>(longest, m.row_offsets().host()[i + 1] - m.row_offsets().host()[i]);
            return longest;
          };
          EXPECT_EQ(found.entries, a.nnz());
          EXPECT_EQ(found.longest_row, longest_of(a));
          if (l + 1 == levels.size()) {
            EXPECT_EQ(found.aggregates, 0);
            continue;
          }
          EXPECT_EQ(found.aggregates, levels[l + 1]->report.rows);
          EXPECT_EQ(found.aggregated + found.not_aggregated, found.rows);
          EXPECT_EQ(found.not_aggregated, l == 0 ? 7 : 0);
          if (const auto* plain = dynamic_cast<const AggregateTransfer<T>*>(levels[l]->transfer.get())) {
            std::map<std::int32_t, std::int32_t> sizes;
            for (const std::int32_t aggregate : plain->aggregates().of_row.host())
              if (aggregate >= 0) ++sizes[aggregate];
            const auto [least, greatest] =
                std::ranges::minmax_element(sizes, {}, [](const auto& size) { return size.second; });
            EXPECT_EQ(found.least_aggregate, least->second);
            EXPECT_EQ(found.greatest_aggregate, greatest->second);
            EXPECT_EQ(found.transfer_entries, found.aggregated);
          } else {
            const auto& transfer = dynamic_cast<const MatrixTransfer<T>&>(*levels[l]->transfer);
            EXPECT_EQ(found.transfer_entries, nnz(transfer.prolongation()));
            EXPECT_LE(found.least_aggregate * found.aggregates, found.aggregated);
            EXPECT_GE(found.greatest_aggregate * found.aggregates, found.aggregated);
          }
        }
        ASSERT_EQ(hierarchy.notes().size(), 1u);
        EXPECT_EQ(hierarchy.notes()[0],
                  "multigrid: rows that nothing binds strongly, which are smoothed only (7 of the finest have a "
                  "diagonal entry alone): 7 of level 0");
      }
  });
}

TEST_P(MultigridReport, tells_of_diagonals_that_smoothers_cannot_use) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(weighted_graph<T>(40, line_of(0, 40), 0.1, {{3, -2}, {17, -2}, {20, 0}}));
    const Hierarchy<T> hierarchy(ctx, told_levels(MultigridMethod::aggregation, 39), {.A = A});
    const auto notes = hierarchy.notes();
    const auto told = [&](const std::string& sentence) { return std::ranges::count(notes, sentence); };
    EXPECT_EQ(told("multigrid: rows with a negative diagonal entry, where the matrix is not positive definite: 2 of "
                   "level 0"),
              1);
    EXPECT_EQ(told("multigrid: rows without a diagonal entry, which are not smoothed: 1 of level 0"), 1);
  });
}

/// Of two candidates that are the same, each aggregate has one column less than it might have.
TEST_P(MultigridReport, tells_of_vectors_that_depend_on_each_other) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(poisson2d<T>(12));
    const Dense<T> twice(144, 2, Array<T>(std::vector<T>(288, T(1))));
    const Hierarchy<T> hierarchy(ctx, told_levels(MultigridMethod::smoothed_aggregation, 60),
                                 {.A = A, .hermitian = true, .candidates = &twice});
    ASSERT_EQ(hierarchy.levels().size(), 2u);
    const LevelReport finest = hierarchy.reports()[0];
    EXPECT_EQ(finest.dead_columns, finest.aggregates);
    const auto notes = hierarchy.notes();
    ASSERT_EQ(notes.size(), 1u) << "the last level is no more singular than that";
    EXPECT_NE(notes[0].find(fmt::format("columns of the interpolation that are 0, for their aggregates have fewer "
                                        "independent rows than there are vectors of the near null space: {} of level 0",
                                        finest.aggregates)),
              std::string::npos)
        << notes[0];
  });
}

TEST_P(MultigridReport, tells_of_a_last_level_that_is_singular) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const MultigridMethod method : {MultigridMethod::aggregation, MultigridMethod::smoothed_aggregation}) {
      const AnyMatrix<T> free(weighted_graph<T>(60, line_of(0, 60), 0));
      const auto notes = Hierarchy<T>(ctx, told_levels(method), {.A = free, .hermitian = true}).notes();
      ASSERT_EQ(notes.size(), 1u);
      EXPECT_NE(notes[0].find("the last level maps the near null space to nothing but rounding, as a singular"),
                std::string::npos)
          << notes[0];
    }
    const AnyMatrix<T> nothing(Csr<T>(3, {0, 1, 2, 2}, {0, 1}, {T(2), T(4)}));
    const auto notes = Hierarchy<T>(ctx, MultigridOptions{}, {.A = nothing}).notes();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0], "multigrid: the last level's matrix is singular: 1 of 3 columns without a pivot");
  });
}

/// x + f P c, whether P is a matrix or aggregates.
TEST_P(MultigridReport, corrections_of_nodes_are_multiplied_by_over_correction) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(poisson2d<T>(12));
    for (const std::int32_t block_dim : {1, 2}) {
      MultigridOptions options = told_levels(MultigridMethod::aggregation, 60);
      const Hierarchy<T> plain(ctx, options, {.A = A, .hermitian = true, .block_dim = block_dim});
      options.over_correction = 1.5;
      const Hierarchy<T> more(ctx, options, {.A = A, .hermitian = true, .block_dim = block_dim});
      ASSERT_EQ(plain.reports().size(), 2u) << "nodes have neighbors to match";
      ASSERT_EQ(more.reports().size(), 2u);
      const auto size = plain.reports()[1].rows;
      EXPECT_EQ(plain.reports()[0].block_dim, block_dim);
      EXPECT_EQ(more.reports()[1].rows, size);
      const Array<T> coarse(random_vector<T>(3, size));
      Array<T> x(std::vector<T>(144, T(0))), y(std::vector<T>(144, T(0)));
      plain.levels()[0]->transfer->add_correction(ctx, coarse, x);
      more.levels()[0]->transfer->add_correction(ctx, coarse, y);
      double most = 0;
      for (std::size_t i = 0; i < 144; ++i) {
        most = std::max(most, std::abs(Z(x.host()[i])));
        EXPECT_NEAR(std::abs(1.5 * Z(x.host()[i]) - Z(y.host()[i])), 0, 8 * epsilon<T>() * std::abs(Z(x.host()[i])));
      }
      EXPECT_GT(most, 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, MultigridReport, backends_and_scalars, param_name);

using Contraction = OnBackendAndScalar;

template <class T>
AnyMatrix<T> told_diagonal(const std::vector<double>& entries) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (const double entry : entries) {
    columns.push_back(static_cast<std::int32_t>(columns.size()));
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
    values.push_back(T(static_cast<real_t<T>>(entry)));
  }
  const auto n = static_cast<std::int32_t>(entries.size());
  return Csr<T>(n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
}

/// Without a preconditioner, of a diagonal matrix: the greatest |1 - a_ii|, from both sides of 1.
TEST_P(Contraction, is_the_spectral_radius) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Identity<T> M;
    struct {
      std::vector<double> diagonal;
      double expected;
    } const tried[]{{{0.5, 0.9, 1.2}, 0.5}, {{0.9, 1.75, 1.2}, 0.75}, {{3, 1, 0.5}, 2}, {{1, 1}, 0}, {{0.5}, 0.5}};
    for (const auto& [diagonal, expected] : tried) {
      const AnyMatrix<T> A = told_diagonal<T>(diagonal);
      EXPECT_NEAR(krill::contraction<T>(ctx, MatrixOperator<T>(A), M, 60, false), expected, 100 * epsilon<T>())
          << expected;
    }
    const AnyMatrix<T> endless = told_diagonal<T>({1, std::numeric_limits<double>::infinity()});
    EXPECT_EQ(krill::contraction<T>(ctx, MatrixOperator<T>(endless), M, 20, false),
              std::numeric_limits<double>::infinity());
  });
}

/// Of Jacobi's method on a line of n points: cos(pi / (n + 1)), with both signs.
TEST_P(Contraction, of_jacobi_is_that_of_the_textbook) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(Poisson1dOptions{.nx = 5});
    EXPECT_NEAR(krill::contraction<T>(ctx, MatrixOperator<T>(A), *made<T>(ctx, JacobiOptions{}, A), 80, false),
                std::cos(std::numbers::pi / 6), 1e-4);
  });
}

/// A kernel is left out of it, for however many steps.
TEST_P(Contraction, of_a_singular_matrix_is_that_of_its_range) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> free(weighted_graph<T>(200, line_of(0, 200), 0));
    AmgOptions options;
    options.coarse_rows = 20;
    const auto M = made<T>(ctx, options, free);
    for (const int steps : {8, 20, 200}) {
      const double found = krill::contraction<T>(ctx, MatrixOperator<T>(free), *M, steps, true);
      EXPECT_GT(found, 0.01) << steps;
      EXPECT_LT(found, 0.75) << steps;
    }
  });
}

/// By a two-level cycle of the judge, applied to the residual until only the slowest is left.
TEST_P(Contraction, of_a_cycle_is_that_of_the_judge) {
  Context ctx = context();
  using T = double;
  const AnyMatrix<T> A(poisson2d<T>(14));
  const Reference R = reference(std::get<Csr<T>>(A));
  AmgOptions options;
  options.coarse_rows = 60, options.precision = KeptPrecision::float64;
  const Hierarchy<T> hierarchy(ctx, options, {.A = A, .hermitian = true});
  ASSERT_EQ(hierarchy.levels().size(), 2u);
  // I - M A by its columns, from the cycle itself, then its powers by the judge's products.
  Reference E{R.rows, R.rows, {}, {}, {}};
  for (std::int32_t j = 0; j < R.rows; ++j) {
    std::vector<T> unit(static_cast<std::size_t>(R.rows)), Au(unit.size());
    unit[static_cast<std::size_t>(j)] = 1;
    for (std::size_t k = 0; k < R.value.size(); ++k)
      if (R.col[k] == j) Au[static_cast<std::size_t>(R.row[k])] = R.value[k].real();
    Array<T> z(R.rows);
    hierarchy.cycle().apply(ctx, Array<T>(Au), z, nullptr);
    for (std::int32_t i = 0; i < R.rows; ++i) {
      E.row.push_back(i), E.col.push_back(j);
      E.value.push_back(unit[static_cast<std::size_t>(i)] - z.host()[static_cast<std::size_t>(i)]);
    }
  }
  std::vector<Z> e = to_reference(random_vector<T>(21, R.rows));
  double radius = 0;
  for (int k = 0; k < 300; ++k) {
    for (Z& entry : e) entry *= radius > 0 ? 1 / radius : 1;
    e = product(Op::none, 1, E, e, 0, e, epsilon<T>()).y;
    double squares = 0;
    for (const Z& entry : e) squares += std::norm(entry);
    radius = std::sqrt(squares);
  }
  const double found = krill::contraction<T>(ctx, MatrixOperator<T>(A), *made<T>(ctx, options, A), 60, false);
  EXPECT_GT(radius, 0.02);
  EXPECT_NEAR(found, radius, 0.02 * radius);
}

INSTANTIATE_TEST_SUITE_P(, Contraction, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
