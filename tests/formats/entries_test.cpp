// What references read out of the arrays of every format: the examples of docs/formats.md, and arrays that are broken.
#include "apps/verify/references/entries.hpp"

#include <gtest/gtest.h>

#include <array>

namespace krill::apps::verify {
namespace {

using Indices = Array<std::int32_t>;
using Offsets = Array<std::int64_t>;
using Values = Array<double>;
using Listed = std::vector<std::array<int, 3>>;  // row, column, value

const Listed all{{0, 0, 1}, {0, 1, 2}, {1, 0, 3}, {1, 1, 4},  {1, 4, 5},  {2, 0, 6},
                 {2, 1, 7}, {2, 2, 8}, {2, 3, 9}, {4, 4, 10}, {5, 4, 11}, {5, 5, 12}};

void expect_entries(AnyMatrix<double> A, const Listed& expected = all) {
  Listed found;
  for (const Entry<double>& e : entries_of(A, true)) found.push_back({e.row, e.col, static_cast<int>(e.value)});
  EXPECT_EQ(found, expected);
}
void expect_broken(AnyMatrix<double> A) { EXPECT_THROW(entries_of(A, false), InvalidArgument); }

TEST(Entries, of_the_formats_of_single_entries) {
  expect_entries(Coo<double>(6, 6, Indices{0, 0, 1, 1, 1, 2, 2, 2, 2, 4, 5, 5},
                             Indices{0, 1, 0, 1, 4, 0, 1, 2, 3, 4, 4, 5},
                             Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  expect_entries(CooAos<double>(6, 6, Indices{0, 0, 0, 1, 1, 0, 1, 1, 1, 4, 2, 0, 2, 1, 2, 2, 2, 3, 4, 4, 5, 4, 5, 5},
                                Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  expect_entries(Csr<double>(6, Indices{0, 2, 5, 9, 9, 10, 12}, Indices{0, 1, 0, 1, 4, 0, 1, 2, 3, 4, 4, 5},
                             Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  expect_entries(Csr<double, std::int64_t>(6, Offsets{0, 2, 5, 9, 9, 10, 12},
                                           Indices{0, 1, 0, 1, 4, 0, 1, 2, 3, 4, 4, 5},
                                           Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  expect_entries(Csc<double>(6, Indices{0, 3, 6, 7, 8, 11, 12}, Indices{0, 1, 2, 0, 1, 2, 2, 2, 1, 4, 5, 5},
                             Values{1, 3, 6, 2, 4, 7, 8, 9, 5, 10, 11, 12}));
}

TEST(Entries, of_blocks) {
  const auto values = [] { return Values{1, 2, 3, 4, 0, 0, 5, 0, 6, 7, 0, 0, 8, 9, 0, 0, 10, 0, 11, 12}; };
  expect_entries(Bsr<double>(6, 6, {2, 2}, Indices{0, 2, 4, 5}, Indices{0, 2, 0, 1, 2}, values()));
  expect_entries(
      Bsrx<double>(6, 6, {2, 2}, Indices{0, 3, 4}, Indices{1, 4, 5}, Indices{0, 2, 0, 1, 2}, values()),
      {{0, 0, 1}, {0, 1, 2}, {1, 0, 3}, {1, 1, 4}, {2, 2, 8}, {2, 3, 9}, {4, 4, 10}, {5, 4, 11}, {5, 5, 12}});
  const Blocking wide{2, 4, BlockOrder::column_major};
  expect_entries(Bsr<double>(
      6, 6, wide, Indices{0, 2, 3, 4}, Indices{0, 1, 0, 1},
      Values{1, 3, 2, 4, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 11, 0, 12, 0, 0, 0, 0}));
  expect_entries(Gebsc<double>(
      6, 6, wide, Indices{0, 2, 4}, Indices{0, 1, 0, 2},
      Values{1, 3, 2, 4, 0, 0, 0, 0, 6, 0, 7, 0, 8, 0, 9, 0, 0, 5, 0, 0, 0, 0, 0, 0, 10, 11, 0, 12, 0, 0, 0, 0}));
  expect_entries(BlockedEll<double>(6, 6, 2, 4, Indices{0, 2, 0, 1, 2, -1},
                                    Values{1, 2, 0, 0, 3, 4, 5, 0, 6, 7, 8, 9, 0, 0, 0, 0, 10, 0, 0, 0, 11, 12, 0, 0}));
}

TEST(Entries, of_padded_rows) {
  expect_entries(Ell<double>(
      6, 6, 4, 12, Indices{0, 0, 0, -1, 4, 4, 1, 1, 1, -1, -1, 5, -1, 4, 2, -1, -1, -1, -1, -1, 3, -1, -1, -1},
      Values{1, 3, 6, 0, 10, 11, 2, 4, 7, 0, 0, 12, 0, 5, 8, 0, 0, 0, 0, 0, 9, 0, 0, 0}));
  expect_entries(Sell<double>(6, 6, 2, 12, Offsets{0, 6, 14, 18},
                              Indices{0, 0, 1, 1, -1, 4, 0, -1, 1, -1, 2, -1, 3, -1, 4, 4, -1, 5},
                              Values{1, 3, 2, 4, 0, 5, 6, 0, 7, 0, 8, 0, 9, 0, 10, 11, 0, 12}));
  expect_entries(Sell<double>(
      6, 6, 4, 12, Offsets{0, 16, 20}, Indices{0, 0, 0, 4, 1, 1, 1, 5, 2, 4, -1, -1, 3, -1, -1, -1, 4, -1, -1, -1},
      Values{6, 3, 1, 11, 7, 4, 2, 12, 8, 5, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0}, Indices{2, 1, 0, 5, 4, 3}));
  expect_entries(Hyb<double>(Ell<double>(6, 6, 2, 9, Indices{0, 0, 0, -1, 4, 4, 1, 1, 1, -1, -1, 5},
                                         Values{1, 3, 6, 0, 10, 11, 2, 4, 7, 0, 0, 12}),
                             Coo<double>(6, 6, Indices{1, 2, 2}, Indices{4, 2, 3}, Values{5, 8, 9})));
}

TEST(Entries, of_diagonals) {
  expect_entries(
      Dia<double>(6, 6, 12, Indices{-2, -1, 0, 1, 3},
                  Values{0, 0, 6, 0, 0, 0, 0, 3, 7, 0, 0, 11, 1, 4, 8, 0, 10, 12, 2, 0, 9, 0, 0, 0, 0, 5, 0, 0, 0, 0}));
  expect_entries(Dia<double>(6, 6, 12, 2, Offsets{0, 4, 8, 10}, Indices{-1, 0, 1, 3, -2, -1, 0, 1, -1, 0},
                             Values{0, 3, 1, 4, 2, 0, 0, 5, 6, 0, 7, 0, 8, 0, 9, 0, 0, 11, 10, 12}));
}

TEST(Entries, by_rows_are_those_of_every_format) {
  const AnyMatrix<double> A(Csc<double>(2, Indices{0, 2, 3}, Indices{0, 1, 1}, Values{1, 2, 3}));
  const Rows<double> rows = rows_of(A);
  EXPECT_EQ(rows.offsets, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(rows.col, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(rows.value, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(with_blocks(rows, 2).col, (std::vector<std::int32_t>{0, 1, 0, 1}));
}

TEST(Entries, of_broken_arrays_are_refused) {
  expect_broken(Csr<double>(2, Indices{0, 2}, Indices{1, 0}, Values{1, 2}));  // falling columns
  expect_broken(Csr<double>(2, Indices{0, 2}, Indices{1, 1}, Values{1, 2}));  // one twice
  expect_broken(Csr<double>(2, Indices{0, 1}, Indices{2}, Values{1}));        // outside
  expect_broken(Csr<double>(2, Indices{0, 2, 1}, Indices{0}, Values{1}));     // falling offsets
  expect_broken(Csr<double>(2, Indices{0, 1}, Indices{0, 1}, Values{1, 2}));  // an entry too many
  expect_broken(Coo<double>(2, 2, Indices{1, 0}, Indices{0, 0}, Values{1, 2}));
  expect_broken(CooAos<double>(2, 2, Indices{0, 1, 0, 0}, Values{1, 2}));
  expect_broken(Csc<double>(2, Indices{0, 2}, Indices{1, 0}, Values{1, 2}));
  expect_broken(Bsr<double>(1, 2, {1, 1}, Indices{0, 2}, Indices{1, 0}, Values{1, 2}));
  expect_broken(Bsrx<double>(1, 2, {1, 1}, Indices{0}, Indices{3}, Indices{0, 1}, Values{1, 2}));
  expect_broken(Ell<double>(1, 2, 2, 1, Indices{-1, 0}, Values{0, 1}));  // padding before an entry
  expect_broken(Ell<double>(1, 2, 2, 1, Indices{0, -1}, Values{1, 1}));  // padding with a value
  expect_broken(Ell<double>(1, 2, 2, 2, Indices{0, -1}, Values{1, 0}));  // another number of entries
  expect_broken(Sell<double>(2, 2, 2, 2, Offsets{0, 2}, Indices{0, 1}, Values{1, 2}, Indices{0, 0}));
  expect_broken(Sell<double>(1, 2, 2, 2, Offsets{0, 2}, Indices{0, 1}, Values{1, 2}));  // a row too many
  expect_broken(Dia<double>(2, 2, 2, Indices{1}, Values{1, 2}));                        // beyond the last column
  expect_broken(Dia<double>(2, 2, 2, Indices{1, 0}, Values{1, 0, 1, 0}));
  expect_broken(BlockedEll<double>(1, 2, 1, 2, Indices{-1, 0}, Values{0, 1}));
}

}  // namespace
}  // namespace krill::apps::verify
