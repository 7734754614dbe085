// Strong entries, and aggregates around roots.
#include "sparse/coarsen/aggregate.hpp"

#include <algorithm>
#include <set>

#include "sparse/io/generate.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Coarsening = OnBackendAndScalar;

/// Neighbors of each row.
using Lists = std::vector<std::vector<std::int32_t>>;

template <class Offset>
Lists lists(const StrongGraph<Offset>& graph) {
  Lists all(static_cast<std::size_t>(graph.rows()));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (auto k = graph.row_offsets.host()[i]; k < graph.row_offsets.host()[i + 1]; ++k)
      all[i].push_back(graph.col_indices.host()[static_cast<std::size_t>(k)]);
  return all;
}

/// By the definition, on a dense copy.
Lists strong_by_definition(const Reference& A, const Strength& strength) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<double> modulus(n * n), size(n);
  for (std::size_t k = 0; k < A.value.size(); ++k)
    modulus[static_cast<std::size_t>(A.row[k]) * n + static_cast<std::size_t>(A.col[k])] = std::abs(A.value[k]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if ((i == j) == (strength.measure == StrengthMeasure::diagonal)) size[i] = std::max(size[i], modulus[i * n + j]);
  Lists all(n);
  const auto strong = [&](std::size_t i, std::size_t j) {
    const double a = modulus[i * n + j], t = strength.threshold;
    return a > 0 && a * a >= t * t * size[i] * size[j] * (1 + 1e-12);
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j && (strong(i, j) || strong(j, i))) all[i].push_back(static_cast<std::int32_t>(j));
  return all;
}

/// What aggregates around roots have to be.
template <class T>
void expect_aggregates(Context& ctx, const Csr<T>& A) {
  const StrongGraph<std::int32_t> strong = strong_graph(ctx, A);
  const Lists graph = lists(strong);
  const Aggregates aggregates = aggregate_mis2(ctx, strong, A);
  const std::vector<std::int32_t> of_row = contents(aggregates.of_row), offsets = contents(aggregates.offsets),
                                  rows = contents(aggregates.rows);
  ASSERT_EQ(std::ssize(of_row), A.rows());
  ASSERT_EQ(std::ssize(offsets), aggregates.count + 1);
  for (std::size_t i = 0; i < graph.size(); ++i) EXPECT_EQ(of_row[i] >= 0, !graph[i].empty()) << i;
  std::int64_t listed = 0;
  for (std::int32_t a = 0; a < aggregates.count; ++a) {
    const auto begin = offsets[static_cast<std::size_t>(a)], end = offsets[static_cast<std::size_t>(a) + 1];
    EXPECT_GE(end - begin, 2) << "a root and a neighbor";
    listed += end - begin;
    std::set<std::size_t> members;
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      EXPECT_EQ(of_row[static_cast<std::size_t>(rows[k])], a);
      if (k > static_cast<std::size_t>(begin)) {
        EXPECT_LT(rows[k - 1], rows[k]);
      }
      members.insert(static_cast<std::size_t>(rows[k]));
    }
    // Some member has all of its neighbors in the aggregate, and all members within two edges inside of it.
    const bool has_root = std::ranges::any_of(members, [&](std::size_t row) {
      std::set<std::size_t> reached{row};
      for (const std::int32_t j : graph[row]) {
        if (!members.contains(static_cast<std::size_t>(j))) return false;
        reached.insert(static_cast<std::size_t>(j));
      }
      for (const std::int32_t j : graph[row])
        for (const std::int32_t k : graph[static_cast<std::size_t>(j)])
          if (members.contains(static_cast<std::size_t>(k))) reached.insert(static_cast<std::size_t>(k));
      return reached == members;
    });
    EXPECT_TRUE(has_root) << "aggregate " << a;
  }
  EXPECT_EQ(listed, std::ssize(rows));
  Context host = Context::host();
  EXPECT_EQ(contents(aggregate_mis2(host, strong_graph(host, A), A).of_row), of_row) << "the host finds others";
}

TEST_P(Coarsening, strong_entries_follow_their_definition) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const StrengthMeasure measure : {StrengthMeasure::relative, StrengthMeasure::diagonal})
      for (const double threshold : {0.0, 0.3, 0.9})
        for (const Csr<T>& A : {random_hpd<T>(1, 60, 7), random_dominant<T>(2, 75, 6)}) {
          const Strength strength{measure, threshold};
          EXPECT_EQ(lists(strong_graph(ctx, A, strength)), strong_by_definition(reference(A), strength));
        }
  });
}

TEST_P(Coarsening, aggregates_are_around_roots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    expect_aggregates(ctx, poisson2d<T>(30));
    expect_aggregates(ctx, random_hpd<T>(3, 500, 4));
    expect_aggregates(ctx, random_dominant<T>(4, 300, 5));
  });
}

TEST_P(Coarsening, odd_graphs_have_aggregates) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto aggregates = [&](std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges) {
      std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
      for (std::int32_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)].push_back(i);
      for (const auto& [i, j] : edges)
        rows[static_cast<std::size_t>(i)].push_back(j), rows[static_cast<std::size_t>(j)].push_back(i);
      std::vector<std::int32_t> offsets{0}, columns;
      std::vector<T> values;
      for (std::int32_t i = 0; i < n; ++i) {
        std::ranges::sort(rows[static_cast<std::size_t>(i)]);
        for (const std::int32_t j : rows[static_cast<std::size_t>(i)])
          columns.push_back(j), values.push_back(i == j ? T(4) : T(-1));
        offsets.push_back(static_cast<std::int32_t>(columns.size()));
      }
      const Csr<T> A(n, Array(offsets), Array(columns), Array(values));
      return contents(aggregate_mis2(ctx, strong_graph(ctx, A), A).of_row);
    };
    using Rows = std::vector<std::int32_t>;
    EXPECT_EQ(aggregates(0, {}), Rows());
    EXPECT_EQ(aggregates(1, {}), Rows{-1});
    EXPECT_EQ(aggregates(3, {}), (Rows{-1, -1, -1}));                    // a diagonal matrix
    EXPECT_EQ(aggregates(5, {{0, 1}, {3, 4}}), (Rows{0, 0, -1, 1, 1}));  // components
    std::vector<std::pair<std::int32_t, std::int32_t>> star;
    for (std::int32_t j = 1; j < 200; ++j) star.emplace_back(0, j);
    EXPECT_EQ(aggregates(200, star), Rows(200, 0));
  });
}

TEST_P(Coarsening, nodes_are_bound_by_the_norms_of_their_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(5, {"blocks", 60, 60, [](std::int32_t, std::mt19937_64&) { return 5; }});
    const Reference entries = reference(A);
    for (const std::int32_t dim : {1, 3, 4}) {
      const Csr<real_t<T>> nodes = node_matrix(ctx, A, dim);
      std::vector<std::vector<double>> squares(static_cast<std::size_t>(60 / dim),
                                               std::vector<double>(static_cast<std::size_t>(60 / dim), -1));
      for (std::size_t k = 0; k < entries.value.size(); ++k) {
        double& sum =
            squares[static_cast<std::size_t>(entries.row[k] / dim)][static_cast<std::size_t>(entries.col[k] / dim)];
        sum = std::max(sum, 0.0) + std::norm(entries.value[k]);
      }
      const Reference found = reference(nodes);
      std::size_t at = 0;
      for (std::int32_t i = 0; i < 60 / dim; ++i)
        for (std::int32_t j = 0; j < 60 / dim; ++j) {
          const double sum = squares[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          if (sum < 0) continue;
          ASSERT_LT(at, found.value.size());
          EXPECT_EQ(found.row[at], i);
          EXPECT_EQ(found.col[at], j);
          EXPECT_NEAR(found.value[at].real(), (i == j ? 1 : -1) * std::sqrt(sum), 4 * epsilon<T>() * std::sqrt(sum));
          ++at;
        }
      EXPECT_EQ(at, found.value.size());
    }
    EXPECT_NE(complaint<InvalidArgument>([&] { node_matrix(ctx, A, 7); }), "");
  });
}

TEST_P(Coarsening, entries_that_are_not_finite_are_named) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(2, {0, 1, 2}, {0, 1}, {T(1), T(std::numeric_limits<real_t<T>>::quiet_NaN())});
    EXPECT_NE(complaint<InvalidArgument>([&] { strong_graph(ctx, A); }).find("row 1"), std::string::npos);
  });
}

INSTANTIATE_TEST_SUITE_P(, Coarsening, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
