#include "sparse/parallel/row_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using Offsets = std::vector<std::int64_t>;

TEST(RowPartitions, know_whose_a_row_is) {
  const RowPartition rows(Offsets{0, 3, 3, 7});
  EXPECT_EQ(rows.ranks(), 3);
  EXPECT_EQ(rows.rows(), 7);
  EXPECT_EQ(rows.rows(1), 0);
  const std::vector<int> owners{0, 0, 0, 2, 2, 2, 2};
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(rows.owner(i), owners[static_cast<std::size_t>(i)]) << i;
  EXPECT_EQ(complaint<InvalidArgument>([&] { rows.owner(7); }), "row partition: row 7 has no owner: there are 7 rows");
}

TEST(RowPartitions, refuse_offsets_that_are_none) {
  EXPECT_EQ(complaint<InvalidArgument>([] { RowPartition(Offsets{0}); }),
            "row partition: 1 offsets; one more than ranks are needed, 2 at least");
  EXPECT_EQ(complaint<InvalidArgument>([] {
              RowPartition(Offsets{1, 2});
            }),
            "row partition: rank 0 begins at row 1; 0 is needed");
  EXPECT_EQ(complaint<InvalidArgument>([] {
              RowPartition(Offsets{0, 4, 3});
            }),
            "row partition: rank 1 ends at row 3, before it begins at 4");
}

/// Costs of ranks differ by no more than what a unit of rows costs, at multiples of the unit.
TEST(RowPartitions, share_the_cost_evenly) {
  for (const std::int64_t n : {0, 1, 7, 1000, 5003})
    for (const int ranks : {1, 2, 3, 4, 16})
      for (const std::int64_t unit : {1, 32}) {
        Offsets offsets{0};
        for (std::int64_t i = 0; i < n; ++i) offsets.push_back(offsets.back() + 1 + (i * i) % 37);
        const auto rows = RowPartition::by_cost<std::int64_t>(offsets, ranks, unit);
        const auto cost = [&](std::int64_t begin, std::int64_t end) {
          return 12 * (offsets[static_cast<std::size_t>(end)] - offsets[static_cast<std::size_t>(begin)]) +
                 100 * (end - begin);
        };
        ASSERT_EQ(rows.ranks(), ranks);
        EXPECT_EQ(rows.rows(), n);
        const std::int64_t unit_cost = unit * (100 + 12 * 37);
        for (int r = 0; r < ranks; ++r) {
          EXPECT_TRUE(rows.begin(r) % unit == 0 || rows.begin(r) == n);
          EXPECT_LE(std::abs(cost(rows.begin(r), rows.end(r)) - cost(0, n) / ranks), unit_cost + 1)
              << n << " rows, rank " << r << " of " << ranks;
        }
      }
}

TEST(RowPartitions, give_a_long_row_to_one_rank) {
  const std::vector<std::int32_t> offsets{0, 1'000'000, 1'000'001, 1'000'002, 1'000'003};
  const auto rows = RowPartition::by_cost<std::int32_t>(offsets, 4, 1);
  for (int r = 0; r < 4; ++r) EXPECT_TRUE(rows.rows(r) == 0 || rows.begin(r) > 0 || rows.end(r) == 1) << r;
}

}  // namespace
}  // namespace krill::test
