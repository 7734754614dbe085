#include <algorithm>

#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/coarsen/prolongator.hpp"
#include "sparse/spgemm/spgemm.hpp"
#include "tests/coarsen/aggregates.hpp"
#include "tests/spgemm/sums.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using TentativeProlongator = OnBackendAndScalar;

/// P0 B_c = B on the rows of aggregates, and P0^H P0 is the identity but for dead columns, where it is zero; R is upper
/// triangular and not negative on its diagonal.
template <class T, class Offset>
void expect_tentative(const Tentative<T, Offset>& made, const Aggregates& aggregates, std::int32_t dim,
                      const Dense<T>& b) {
  ASSERT_NO_THROW(validate(made.P));
  const std::int32_t m = b.cols();
  ASSERT_EQ(made.P.cols(), aggregates.count * m);
  const auto r = made.coarse_candidates.host();
  const auto offsets = made.P.row_offsets().host();
  const auto dead = made.dead_columns.host();
  EXPECT_EQ(made.deficient.host()[0], std::count(dead.begin(), dead.end(), 1));
  // What a column is rounded by: once when it is scaled, once in each of 2 m sweeps and once when its length is divided
  // by; a dead column leaves what counts as nothing.
  const double rounding = (2 * m + 4) * epsilon<T>(), nothing = std::max(1e-10, 32 * epsilon<T>());
  std::vector<double> size(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < b.rows(); ++i)
    for (std::int32_t j = 0; j < m; ++j)
      size[static_cast<std::size_t>(j)] = std::max(size[static_cast<std::size_t>(j)], std::abs(Z(b.host().at(i, j))));
  const double rows_of_largest = [&] {
    double most = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(aggregates.count); ++a)
      most = std::max<double>(most, dim * (aggregates.offsets.host()[a + 1] - aggregates.offsets.host()[a]));
    return most;
  }();
  std::map<std::pair<std::int32_t, std::int32_t>, LongComplex> gram;
  for (std::int32_t row = 0; row < made.P.rows(); ++row) {
    const std::int32_t aggregate = aggregates.of_row.host()[static_cast<std::size_t>(row / dim)];
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
    ASSERT_EQ(static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]) - begin,
              static_cast<std::size_t>(aggregate < 0 ? 0 : m));
    if (aggregate < 0) continue;
    const auto q = [&](std::int32_t k) {
      return LongComplex(made.P.values().host()[begin + static_cast<std::size_t>(k)]);
    };
    ASSERT_EQ(made.P.col_indices().host()[begin], aggregate * m);
    for (std::int32_t j = 0; j < m; ++j) {
      LongComplex product = 0;
      for (std::int32_t k = 0; k < m; ++k) product += q(k) * LongComplex(r.at(std::int64_t{aggregate} * m + k, j));
      ASSERT_LE(std::abs(product - LongComplex(b.host().at(row, j))),
                (rounding + (made.deficient.host()[0] > 0 ? nothing : 0)) * std::sqrt(rows_of_largest) *
                    size[static_cast<std::size_t>(j)])
          << "row " << row << ", candidate " << j;
      for (std::int32_t k = 0; k < m; ++k) gram[{aggregate * m + j, aggregate * m + k}] += std::conj(q(j)) * q(k);
    }
  }
  for (const auto& [place, product] : gram) {
    const auto [j, k] = place;
    const bool is_dead = dead[static_cast<std::size_t>(j)] != 0;
    // The second sweep leaves of column k in column j what rounding makes of a column of length 1, at most m times.
    ASSERT_LE(std::abs(product - LongComplex(j == k && !is_dead)), 2 * rounding) << "columns " << j << ", " << k;
  }
  for (std::int64_t i = 0; i < made.P.cols(); ++i)
    for (std::int32_t j = 0; j < m; ++j) {
      const Z entry(r.at(i, j));
      if (i % m > j) {
        ASSERT_EQ(entry, Z(0));
      } else if (i % m == j) {
        ASSERT_EQ(entry.imag(), 0);
        ASSERT_GE(entry.real(), 0);
        ASSERT_EQ(entry.real() == 0, dead[static_cast<std::size_t>(i)] != 0);
      }
    }
}

/// Aggregates of one row up to more than a warp's; where they have fewer rows than there are candidates, the rest is
/// dead.
TEST_P(TentativeProlongator, restores_candidates_on_aggregates) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [nodes, large, dim, m] :
         {std::array{300, 1, 1, 1}, {300, 100, 1, 1}, {40, 20, 1, 3}, {200, 45, 2, 3}, {300, 20, 3, 6}}) {
      const Aggregates aggregates = make_aggregates(scattered(nodes, large));
      const auto b = random_candidates<T>(3, std::int64_t{nodes} * dim, m);
      const auto made = tentative_prolongator<T>(ctx, aggregates, dim, b);
      expect_tentative(made, aggregates, dim, b);
      std::int64_t too_few = 0;
      for (std::size_t a = 0; a < static_cast<std::size_t>(aggregates.count); ++a)
        too_few += std::max(0, m - dim * (aggregates.offsets.host()[a + 1] - aggregates.offsets.host()[a]));
      EXPECT_EQ(made.deficient.host()[0], too_few);
      const auto again = tentative_prolongator<T>(ctx, aggregates, dim, b);
      EXPECT_EQ(contents(again.P.values()), contents(made.P.values()));
      EXPECT_EQ(contents(again.coarse_candidates.values()), contents(made.coarse_candidates.values()));
    }
  });
}

/// Candidates of any size; one twice, one of zeros, one that is nothing but rounding of another.
TEST_P(TentativeProlongator, has_dead_columns_where_candidates_depend_on_each_other) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Aggregates aggregates = make_aggregates(scattered(400, 50));
    Dense<T> b = random_candidates<T>(3, 400, 4);
    const double big = std::is_same_v<real_t<T>, float> ? 1e15 : 1e150;
    for (std::int64_t i = 0; i < 400; ++i) {
      const auto view = b.edit();
      view.at(i, 0) *= static_cast<real_t<T>>(1 / big);
      view.at(i, 2) = T(3) * view.at(i, 0) * static_cast<real_t<T>>(big);
      view.at(i, 3) = T(0);
    }
    const auto made = tentative_prolongator<T, std::int64_t>(ctx, aggregates, 1, b);
    expect_tentative(made, aggregates, 1, b);
    for (std::int32_t a = 0; a < aggregates.count; ++a)
      for (std::int32_t j = 0; j < 4; ++j)
        ASSERT_EQ(made.dead_columns.host()[static_cast<std::size_t>(4 * a + j)], j < 2 ? 0 : 1) << a << ", " << j;
  });
}

/// Nodes on a line along y: nothing turns about it. The coarse matrix gets ones there, nothing else changes.
TEST_P(TentativeProlongator, has_a_dead_rotation_on_a_line) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t nodes = 12;
    Dense<double> at(nodes, 3);
    for (std::int32_t i = 0; i < nodes; ++i) at.edit().at(i, 0) = 1, at.edit().at(i, 1) = i, at.edit().at(i, 2) = -2;
    const Dense<T> b = rigid_body_modes<T>(ctx, at);
    const Aggregates aggregates = make_aggregates({0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
    const auto made = tentative_prolongator<T>(ctx, aggregates, 3, b);
    expect_tentative(made, aggregates, 3, b);
    EXPECT_EQ(contents(made.dead_columns), (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}));
    const Csr<T> A = random_dominant<T>(5, 36, 9);
    TripleProductPlan<T> plan(ctx, Op::adjoint, made.P, A, made.P);
    plan.update(ctx, T(1), made.P, A, made.P);
    const Csr<T> before = plan.matrix().clone();
    Csr<T> coarse = before.clone();
    replay(ctx, [&] { set_dead_diagonal(ctx, made.dead_columns, coarse); });
    std::int64_t changed = 0;
    for (std::int32_t i = 0; i < 12; ++i)
      for (auto k = static_cast<std::size_t>(coarse.row_offsets().host()[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(coarse.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++k) {
        const bool dead = i % 6 == 5 && coarse.col_indices().host()[k] == i;
        changed += dead;
        EXPECT_EQ(before.values().host()[k] == T(0), i % 6 == 5 || coarse.col_indices().host()[k] % 6 == 5);
        EXPECT_EQ(coarse.values().host()[k], dead ? T(1) : before.values().host()[k]);
      }
    EXPECT_EQ(changed, 2);
    EXPECT_THROW(set_dead_diagonal(ctx, Array<std::uint8_t>(5), coarse), ShapeMismatch);
  });
}

TEST_P(TentativeProlongator, refuses_candidates_that_do_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Aggregates aggregates = make_aggregates({0, 0, 1, 1});
    auto b = random_candidates<T>(1, 8, 2);
    EXPECT_THROW(tentative_prolongator<T>(ctx, aggregates, 0, b), InvalidArgument);
    EXPECT_THROW(tentative_prolongator<T>(ctx, aggregates, 1, b), ShapeMismatch);
    EXPECT_THROW(tentative_prolongator<T>(ctx, aggregates, 2, Dense<T>(8, 0)), InvalidArgument);
    b.edit().at(5, 1) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    EXPECT_NE(complaint<InvalidArgument>([&] {
                tentative_prolongator<T>(ctx, aggregates, 2, b);
              }).find("candidate 1 is not finite in row 5"),
              std::string::npos);
  });
}

INSTANTIATE_TEST_SUITE_P(, TentativeProlongator, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
