#include "sparse/formats/csr.hpp"

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

namespace krill::test {
namespace {

Csr<double> csr(std::int32_t cols, std::vector<std::int32_t> offsets, std::vector<std::int32_t> columns) {
  std::vector<double> values(columns.size(), 1.0);
  return {cols, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

std::string fault(const Csr<double>& A) {
  try {
    validate(A);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

TEST(Csr, accepts_what_is_right) {
  for (const Shape& shape : nasty_shapes()) EXPECT_EQ(fault(random_csr<double>(1, shape)), "") << shape.name;
}

TEST(Csr, names_array_index_and_value_of_a_fault) {
  EXPECT_EQ(fault(csr(3, {1, 2}, {0, 1})), "csr: row_offsets[0] is 1, 0 was expected (the index base)");
  EXPECT_EQ(fault(csr(3, {0, 2, 1, 2}, {0, 1})),
            "csr: row_offsets[2] is 1, less than row_offsets[1] = 2; offsets never decrease");
  EXPECT_EQ(fault(csr(3, {0, 1}, {0, 1})), "csr: row_offsets[1] is 1, 2 was expected (nnz)");
  EXPECT_EQ(fault(csr(3, {0, 2}, {0, 3})), "csr: col_indices[1] = 3 in row 0 lies outside 0 to 2");
  EXPECT_EQ(fault(csr(3, {0, 2}, {-1, 2})), "csr: col_indices[0] = -1 in row 0 lies outside 0 to 2");
  EXPECT_EQ(fault(csr(3, {0, 0, 2}, {2, 1})),
            "csr: col_indices[1] = 1 in row 1 follows 2; columns ascend strictly in each row: sort and sum duplicates "
            "first");
}

TEST(Csr, refuses_duplicates) { EXPECT_NE(fault(csr(3, {0, 2}, {1, 1})), ""); }

TEST(Csr, finds_the_first_fault_of_many_with_any_number_of_threads) {
  std::vector<std::int32_t> offsets{0}, columns;
  for (std::int32_t i = 0; i < 100'000; ++i) columns.push_back(i % 1000 == 777 ? 5 : 0), offsets.push_back(i + 1);
  const Csr<double> A = csr(1, offsets, columns);
  for (const int threads : {1, 2, 5}) {
    const Context ctx = Context::host(threads);
    try {
      validate(ctx.host_tag(), A.view(ctx.host_tag()));
      FAIL();
    } catch (const InvalidArgument& e) {
      EXPECT_STREQ(e.what(), "csr: col_indices[777] = 5 in row 777 lies outside 0 to 0");
    }
  }
}

TEST(Csr, counts_from_one_where_the_view_says_so) {
  const Array<std::int32_t> offsets{1, 3}, columns{1, 3};
  const Array<double> values{1, 2};
  const Host host;
  CsrView<const double> view{1, 3, 2, offsets.read(host), columns.read(host), values.read(host), IndexBase::one};
  EXPECT_NO_THROW(validate(host, view));
  view.base = IndexBase::zero;
  EXPECT_THROW(validate(host, view), InvalidArgument);
}

TEST(Csr, checks_sizes_when_it_is_made) {
  EXPECT_THROW(Csr<double>(1, Array<std::int32_t>(0), Array<std::int32_t>(0), Array<double>(0)), ShapeMismatch);
  EXPECT_THROW(Csr<double>(1, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0, 1}, Array<double>{1.0}), ShapeMismatch);
}

}  // namespace
}  // namespace krill::test
