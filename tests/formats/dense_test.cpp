#include "sparse/formats/dense.hpp"

#include <gtest/gtest.h>

#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

TEST(Dense, entries_lie_where_the_order_says) {
  const Dense<double> columns(2, 3, Array<double>{11, 21, 12, 22, 13, 23}),
      rows(2, 3, Array<double>{11, 12, 13, 0, 21, 22, 23, 0}, Order::row_major, 4);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(columns.host().at(i, j), 10 * (i + 1) + j + 1);
      EXPECT_EQ(rows.host().at(i, j), 10 * (i + 1) + j + 1);
      EXPECT_EQ(rows.host().transposed().at(j, i), rows.host().at(i, j));
      EXPECT_EQ(columns.host().transposed().at(j, i), columns.host().at(i, j));
    }
  EXPECT_EQ(columns.leading_dimension(), 2);
  EXPECT_FALSE(columns.padded());
  EXPECT_TRUE(rows.padded());
  EXPECT_EQ(rows.bytes(), 64u);
}

TEST(Dense, may_have_no_rows_or_no_columns) {
  EXPECT_EQ(Dense<float>(0, 5).values().size(), 0);
  EXPECT_EQ(Dense<float>(5, 0).values().size(), 0);
  EXPECT_EQ(Dense<float>(0, 5, Order::column_major, 3).values().size(), 15);
  EXPECT_EQ(Dense<float>(0, 0, Order::row_major).leading_dimension(), 0);
}

TEST(Dense, a_clone_has_its_own_entries_and_the_same_padding) {
  Dense<float> D(1, 2, Array<float>{1, -1, 2, -2}, Order::column_major, 2);
  const Dense<float> copy = D.clone();
  D.edit().at(0, 1) = 5;
  EXPECT_EQ(copy.host().at(0, 1), 2);
  EXPECT_EQ(copy.leading_dimension(), 2);
  EXPECT_EQ(copy.values().host()[3], -2);
  EXPECT_EQ(D.host().at(0, 1), 5);
}

TEST(Dense, sizes_that_do_not_fit_are_named) {
  EXPECT_EQ(complaint<ShapeMismatch>([] { Dense<double>(2, 3, Array<double>(5)); }),
            "dense: values has 5 entries, 6 are needed");
  EXPECT_EQ(complaint<ShapeMismatch>([] { Dense<double>(2, 3, Array<double>(6), Order::row_major, 4); }),
            "dense: values has 6 entries, 8 are needed");
  EXPECT_EQ(complaint<InvalidArgument>([] { Dense<double>(-2, 3); }),
            "dense: rows is -2, 0 to 2147483647 were expected");
  for (const std::int64_t leading_dimension : {std::int64_t{2}, std::int64_t{-1}, std::int64_t{1} << 62})
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                Dense<double>(3, 4, Order::column_major, leading_dimension);
              }).find("dense: leading_dimension is " + std::to_string(leading_dimension) + ", 3 to "),
              0u);
}

}  // namespace
}  // namespace krill::test
