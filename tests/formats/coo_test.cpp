#include "sparse/formats/coo.hpp"

#include <gtest/gtest.h>

namespace krill::test {
namespace {

std::string fault(std::vector<std::int32_t> rows, std::vector<std::int32_t> cols) {
  std::vector<double> values(rows.size(), 1.0);
  try {
    validate(Coo<double>(3, 4, Array(std::move(rows)), Array(std::move(cols)), Array(std::move(values))));
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

TEST(Coo, accepts_what_is_right) {
  EXPECT_EQ(fault({}, {}), "");
  EXPECT_EQ(fault({0, 0, 2, 2}, {1, 3, 0, 3}), "");
}

TEST(Coo, names_array_index_and_value_of_a_fault) {
  EXPECT_EQ(fault({0, 3}, {0, 0}), "coo: row_indices[1] = 3 lies outside 0 to 2");
  EXPECT_EQ(fault({0, -1}, {0, 0}), "coo: row_indices[1] = -1 lies outside 0 to 2");
  EXPECT_EQ(fault({0, 1}, {0, 4}), "coo: col_indices[1] = 4 lies outside 0 to 3");
  EXPECT_EQ(fault({1, 0}, {0, 0}),
            "coo: entry 1 at (0, 0) follows (1, 0); entries are sorted by row, then strictly by column");
  EXPECT_NE(fault({1, 1}, {2, 2}), "");
}

TEST(Coo, checks_sizes_when_it_is_made) {
  EXPECT_THROW(Coo<double>(1, 1, Array<std::int32_t>{0}, Array<std::int32_t>(0), Array<double>{1.0}), ShapeMismatch);
}

}  // namespace
}  // namespace krill::test
