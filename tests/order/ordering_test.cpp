#include "sparse/order/ordering.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "sparse/convert/sort.hpp"
#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/spmv/spmv.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

template <class T, class Offset>
std::int64_t bandwidth(const Csr<T, Offset>& A) {
  const Reference entries = reference(A);
  std::int64_t most = 0;
  for (std::size_t k = 0; k < entries.row.size(); ++k)
    most = std::max<std::int64_t>(most, std::abs(entries.row[k] - entries.col[k]));
  return most;
}

using Reordering = OnBackendAndScalar;

/// Every entry goes where its row and column go, and comes with its value; rows stay sorted.
TEST_P(Reordering, moves_every_entry_and_follows_new_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      SCOPED_TRACE(shape.name);
      Csr<T, std::int64_t> A = random_csr<T, std::int64_t>(1, shape);
      const Ordering ordering(Array<std::int32_t>(shuffled(2, A.rows())));
      Reordered<T, std::int64_t> made(ctx, A, ordering);
      const auto expect_moved = [&] {
        validate(made.matrix());
        Reference from = reference(A), to = reference(made.matrix());
        using Entry = std::tuple<std::int32_t, std::int32_t, double, double>;
        std::vector<Entry> expected, found;
        const auto inverse = ordering.inverse().host();
        for (std::size_t k = 0; k < from.row.size(); ++k)
          expected.emplace_back(inverse[static_cast<std::size_t>(from.row[k])],
                                inverse[static_cast<std::size_t>(from.col[k])], from.value[k].real(),
                                from.value[k].imag());
        for (std::size_t k = 0; k < to.row.size(); ++k)
          found.emplace_back(to.row[k], to.col[k], to.value[k].real(), to.value[k].imag());
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(expected, found);
      };
      expect_moved();
      for (T& value : A.values().edit()) value *= T(2);
      made.update(ctx, A);
      expect_moved();
    }
  });
}

TEST_P(Reordering, products_are_the_same_in_the_new_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(3, 3000, 8);
    const Ordering ordering(Array<std::int32_t>(shuffled(4, A.rows())));
    const Reordered<T, std::int32_t> made(ctx, A, ordering);
    const auto x = random_vector<T>(5, A.cols());
    const Array<T> ax(x);
    Array<T> moved_x(A.cols()), moved_y(A.rows()), y(A.rows());
    apply_permutation(ctx, ax, ordering.order(), moved_x);
    spmv(ctx, Op::none, T(1), made.matrix(), moved_x, T(0), moved_y);
    apply_inverse_permutation(ctx, moved_y, ordering.order(), y);
    const auto expected = product(Op::none, 1.0, reference(A), to_reference(x), 0.0,
                                  std::vector<Z>(static_cast<std::size_t>(A.rows())), epsilon<T>());
    for (std::size_t i = 0; i < expected.y.size(); ++i)
      ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << i;
  });
}

INSTANTIATE_TEST_SUITE_P(, Reordering, backends_and_scalars, param_name);

using Rcm = OnBackend;

TEST_P(Rcm, makes_the_bandwidth_of_a_shuffled_grid_small) {
  Context ctx = context();
  constexpr std::int32_t n = 40;
  const Csr<double> grid = poisson2d<double>(n);
  const Reordered<double, std::int32_t> shuffled_grid(ctx, grid,
                                                      Ordering(Array<std::int32_t>(shuffled(6, grid.rows()))));
  ASSERT_GT(bandwidth(shuffled_grid.matrix()), 20 * n);
  const Ordering ordering = reverse_cuthill_mckee(ctx, shuffled_grid.matrix());
  const Reordered<double, std::int32_t> made(ctx, shuffled_grid.matrix(), ordering);
  EXPECT_LE(bandwidth(made.matrix()), n);  // of levels that are diagonals of the grid
}

TEST_P(Rcm, orders_every_pattern) {
  Context ctx = context();
  for (const Shape& shape : square_shapes()) {
    SCOPED_TRACE(shape.name);
    const Csr<double> A = random_csr<double>(7, shape);
    const Ordering ordering = reverse_cuthill_mckee(ctx, A);  // is a permutation, or it would have thrown
    EXPECT_EQ(ordering.size(), A.rows());
    EXPECT_TRUE(std::ranges::equal(ordering.order().host(), reverse_cuthill_mckee(ctx, A).order().host()));
  }
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(reverse_cuthill_mckee(ctx, wide), ShapeMismatch);
}

/// Two paths, 0-4-2 and 1-3, and a lonely row: a component stays together, a path becomes a path.
TEST_P(Rcm, follows_paths) {
  Context ctx = context();
  const Csr<double> A(6, Array<std::int32_t>{0, 1, 2, 3, 3, 4, 4}, Array<std::int32_t>{4, 3, 4, 2},
                      Array<double>{1.0, 1.0, 1.0, 1.0});
  const Reordered<double, std::int32_t> made(ctx, A, reverse_cuthill_mckee(ctx, A));
  EXPECT_EQ(bandwidth(made.matrix()), 1);
}

INSTANTIATE_TEST_SUITE_P(, Rcm, backends, param_name);

/// Entries of the Cholesky factor below its diagonal, by symbolic elimination.
std::size_t factor_entries(const Csr<double>& A) {
  const Reference entries = reference(A);
  std::vector<std::set<std::int32_t>> below(static_cast<std::size_t>(A.rows()));
  for (std::size_t k = 0; k < entries.row.size(); ++k)
    if (entries.row[k] > entries.col[k]) below[static_cast<std::size_t>(entries.col[k])].insert(entries.row[k]);
  std::size_t count = 0;
  for (const auto& column : below) {
    count += column.size();
    if (!column.empty())
      below[static_cast<std::size_t>(*column.begin())].insert(std::next(column.begin()), column.end());
  }
  return count;
}

TEST(Amd, fills_in_less_than_the_natural_order) {
  Context ctx = Context::host();
  const Csr<double> A = poisson2d<double>(30);
  const Reordered<double, std::int32_t> made(ctx, A, approximate_minimum_degree(ctx, A));
  const std::size_t natural = factor_entries(A), reordered = factor_entries(made.matrix());
  EXPECT_GT(natural, 29U * 29U * 30U);  // the band fills in
  EXPECT_LT(2 * reordered, natural);
}

/// An arrow that points to its first row fills in whole; from the other end not at all.
TEST(Amd, turns_an_arrow_round) {
  Context ctx = Context::host();
  constexpr std::int32_t n = 9;
  std::vector<std::int32_t> offsets{0}, cols;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (i == j || i == 0) cols.push_back(j);  // the other half of the pattern is the transpose's
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  const auto entries = static_cast<std::int64_t>(cols.size());
  const Csr<double> A(n, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(cols)),
                      Array<double>(std::vector<double>(static_cast<std::size_t>(entries), 1.0)));
  const Ordering ordering = approximate_minimum_degree(ctx, A);
  EXPECT_GE(ordering.inverse().host()[0], n - 2);
}

TEST(Amd, orders_every_pattern) {
  Context ctx = Context::host();
  for (const Shape& shape : square_shapes()) {
    SCOPED_TRACE(shape.name);
    const Csr<double, std::int64_t> A = random_csr<double, std::int64_t>(8, shape);
    EXPECT_EQ(approximate_minimum_degree(ctx, A).size(), A.rows());
  }
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(approximate_minimum_degree(ctx, wide), ShapeMismatch);
}

TEST(NestedDissection, fills_in_less_than_minimum_degree_on_large_grids) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  Context ctx = Context::host();
  const Csr<double> A = std::get<Csr<double>>(generate<double>(Poisson3dOptions{.nx = 24}));
  const Reordered<double, std::int32_t> dissected(ctx, A, nested_dissection(ctx, A)),
      by_degree(ctx, A, approximate_minimum_degree(ctx, A));
  EXPECT_LT(factor_entries(dissected.matrix()), factor_entries(by_degree.matrix()));
}

TEST(NestedDissection, orders_every_pattern_the_same_in_every_run) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  Context ctx = Context::host();
  for (const Shape& shape : square_shapes()) {
    SCOPED_TRACE(shape.name);
    const Csr<double, std::int64_t> A = random_csr<double, std::int64_t>(9, shape);
    const Ordering ordering = nested_dissection(ctx, A);  // is a permutation, or it would have thrown
    EXPECT_EQ(ordering.size(), A.rows());
    EXPECT_TRUE(std::ranges::equal(ordering.order().host(), nested_dissection(ctx, A).order().host()));
  }
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(nested_dissection(ctx, wide), ShapeMismatch);
}

TEST(NestedDissection, says_what_a_build_without_it_lacks) {
  if (with_metis) GTEST_SKIP() << "this build has METIS";
  Context ctx = Context::host();
  EXPECT_NE(complaint<InvalidArgument>([&] { nested_dissection(ctx, poisson2d<double>(3)); }).find("libmetis-dev"),
            std::string::npos);
}

TEST(Ordering, names_what_is_no_permutation) {
  const auto fault = [](std::vector<std::int32_t> order) -> std::string {
    try {
      const Ordering made(Array<std::int32_t>(std::move(order)));
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({2, 0, 1}), "");
  EXPECT_EQ(fault({0, 3, 1}), "ordering: order[1] = 3 lies outside 0 to 2");
  EXPECT_EQ(fault({0, -1, 1}), "ordering: order[1] = -1 lies outside 0 to 2");
  EXPECT_EQ(fault({1, 0, 1}), "ordering: order[2] = 1 stands at 0, too");
  Context ctx = Context::host();
  const Csr<double> A = poisson2d<double>(2);
  EXPECT_THROW((Reordered<double, std::int32_t>(ctx, A, Ordering(Array<std::int32_t>{0, 1}))), ShapeMismatch);
}

/// The greatest cost of a part over the mean one, and the entries between parts.
struct Cut {
  double imbalance;
  std::int64_t entries;
};
Cut cut_of(const Csr<double>& A, const std::vector<std::int32_t>& part_of, std::size_t parts,
           const std::vector<std::int64_t>& costs) {
  const Reference entries = reference(A);
  Cut cut{0, 0};
  std::vector<std::int64_t> sums(parts);
  for (std::size_t i = 0; i < part_of.size(); ++i) sums.at(static_cast<std::size_t>(part_of[i])) += costs[i];
  cut.imbalance = static_cast<double>(*std::ranges::max_element(sums) * std::ssize(sums)) /
                  static_cast<double>(std::accumulate(costs.begin(), costs.end(), std::int64_t{0}));
  for (std::size_t k = 0; k < entries.row.size(); ++k)
    cut.entries +=
        part_of[static_cast<std::size_t>(entries.row[k])] != part_of[static_cast<std::size_t>(entries.col[k])] ? 1 : 0;
  return cut;
}

/// About equally many rows in each, and far fewer entries between them than between neighboring rows.
TEST(PartitionedGraphs, cut_few_entries) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  Context ctx = Context::host(1);
  const auto A = std::get<Csr<double>>(generate<double>(Poisson3dOptions{.nx = 16}));
  const std::vector<std::int64_t> equal(4096, 1);
  std::vector<std::int32_t> neighboring(4096);
  for (std::size_t i = 0; i < neighboring.size(); ++i) neighboring[i] = static_cast<std::int32_t>(i / 64);
  const std::vector<std::int32_t> graph = partition_graph(ctx, A, 64);
  EXPECT_EQ(graph, partition_graph(ctx, A, 64)) << "the same in every run";
  const Cut found = cut_of(A, graph, 64, equal);
  EXPECT_LE(found.imbalance, 1.1);
  EXPECT_LT(5 * found.entries, 3 * cut_of(A, neighboring, 64, equal).entries);
  EXPECT_EQ(complaint<InvalidArgument>([&] { partition_graph(ctx, A, 0); }), "partition: 0 parts, expected 1 or more");
}

/// A quarter of the grid whose rows cost ten times as much as others: parts of about equal cost, whatever its unit is,
/// where those of equal rows are far from it.
TEST(PartitionedGraphs, share_the_cost) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  Context ctx = Context::host(1);
  const Csr<double> A = poisson2d<double>(48);
  for (const std::int64_t unit : {std::int64_t{1}, std::int64_t{1} << 40}) {
    std::vector<std::int64_t> costs;
    for (int i = 0; i < 48 * 48; ++i) costs.push_back(unit * (i % 48 < 24 && i / 48 < 24 ? 10 : 1));
    EXPECT_LE(cut_of(A, partition_graph(ctx, A, 4, costs), 4, costs).imbalance, 1.1) << unit;
    EXPECT_GT(cut_of(A, partition_graph(ctx, A, 4), 4, costs).imbalance, 1.5) << unit;
  }
  EXPECT_THROW(partition_graph(ctx, A, 4, std::vector<std::int64_t>(3, 1)), ShapeMismatch);
}

}  // namespace
}  // namespace krill::test
