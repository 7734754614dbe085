#include "sparse/triangular/levels.hpp"

#include <gtest/gtest.h>

#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

using Levels = OnBackend;

/// Every row stands once; no row depends on one of its own level or a later one; every row but those of the first level
/// depends on one of the level before; inside a level rows keep their order.
template <class Offset>
void expect_levels(const Csr<double, Offset>& A, Fill fill, const LevelSchedule& schedule) {
  const auto n = static_cast<std::size_t>(A.rows());
  const detail::Steps steps{A.rows(), fill};
  const auto order = schedule.order().host(), inverse = schedule.inverse().host(), bounds = schedule.offsets().host();
  std::vector<std::int32_t> level(n, -1);
  ASSERT_EQ(bounds.size(), static_cast<std::size_t>(schedule.levels()) + 1);
  std::int32_t widest = 0;
  for (std::size_t l = 0; l + 1 < bounds.size(); ++l) {
    ASSERT_LT(bounds[l], bounds[l + 1]);
    widest = std::max(widest, bounds[l + 1] - bounds[l]);
    for (std::int32_t p = bounds[l]; p < bounds[l + 1]; ++p) {
      const auto row = static_cast<std::size_t>(order[static_cast<std::size_t>(p)]);
      ASSERT_EQ(inverse[row], p);
      ASSERT_EQ(level[row], -1);
      level[row] = static_cast<std::int32_t>(l);
      if (p > bounds[l]) {
        ASSERT_LT(steps.step(order[static_cast<std::size_t>(p) - 1]), steps.step(static_cast<std::int32_t>(row)));
      }
    }
  }
  EXPECT_EQ(bounds.empty() ? 0 : bounds.back(), A.rows());
  EXPECT_EQ(schedule.widest(), widest);
  const auto offsets = A.row_offsets().host();
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t expected = 0;
    for (auto k = static_cast<std::size_t>(offsets[i]); k < static_cast<std::size_t>(offsets[i + 1]); ++k) {
      const std::int32_t col = A.col_indices().host()[k];
      if (steps.step(col) < steps.step(static_cast<std::int32_t>(i)))
        expected = std::max(expected, level[static_cast<std::size_t>(col)] + 1);
    }
    ASSERT_EQ(level[i], expected) << "row " << i;
  }
}

template <class Offset>
void expect_levels(Context& ctx, const Csr<double, Offset>& A) {
  for (const Fill fill : {Fill::lower, Fill::upper}) {
    const LevelSchedule schedule(ctx, A.row_offsets(), A.col_indices(), fill);
    expect_levels(A, fill, schedule);
    const LevelSchedule again(ctx, A.row_offsets(), A.col_indices(), fill);
    EXPECT_EQ(contents(schedule.order()), contents(again.order()));
  }
}

TEST_P(Levels, of_nasty_shapes) {
  Context ctx = context();
  for (const Shape& shape : square_shapes()) {
    SCOPED_TRACE(shape.name);
    expect_levels(ctx, random_csr<double, std::int32_t>(1, shape));
    expect_levels(ctx, random_csr<double, std::int64_t>(2, shape));
  }
}

TEST_P(Levels, of_grids_and_chains_over_many_chunks) {
  Context ctx = context();
  expect_levels(ctx, poisson2d<double>(200));
  constexpr std::int32_t n = 50'000;
  expect_levels(ctx, with_columns<double>(n, [](std::int32_t i) {
                  return i == 0 ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{i - 1, i};
                }));
  // Whom a row waits for lies far away, in the first chunk or the last one.
  expect_levels(ctx, with_columns<double>(n, [](std::int32_t i) {
                  std::vector<std::int32_t> columns{i / 2, i, i + (n - 1 - i) / 2};
                  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
                  return columns;
                }));
}

TEST_P(Levels, as_rows_stand) {
  Context ctx = context();
  const LevelSchedule down(ctx, 3, Fill::lower), up(ctx, 3, Fill::upper);
  EXPECT_EQ(contents(down.order()), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(contents(up.order()), (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_EQ(contents(up.inverse()), (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_FALSE(up.has_levels());
}

INSTANTIATE_TEST_SUITE_P(, Levels, backends, param_name);

}  // namespace
}  // namespace krill::test
