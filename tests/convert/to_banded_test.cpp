// From CSR to bands.
#include "sparse/convert/to_banded.hpp"

#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"

namespace krill::test {
namespace {

using ToBanded = OnBackendAndScalar;

template <class T>
std::vector<T> numbers(const std::vector<double>& values) {
  std::vector<T> converted;
  for (const double value : values) converted.push_back(T(static_cast<real_t<T>>(value)));
  return converted;
}

TEST_P(ToBanded, takes_one_matrix_and_gives_it_back) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(3, {0, 2, 3, 4}, {0, 1, 1, 1}, Array<T>(numbers<T>({1, 2, 3, 4})));
    const Banded<T> made = to_banded(ctx, A);
    EXPECT_EQ(contents(made.band(-1)), numbers<T>({0, 0, 4}));
    EXPECT_EQ(contents(made.band(0)), numbers<T>({1, 3, 0}));
    EXPECT_EQ(contents(made.band(1)), numbers<T>({2, 0, 0}));
    const Csr<T> back = made.to_csr();
    EXPECT_EQ(contents(back.col_indices()), (std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2}));
    EXPECT_EQ(contents(back.values()), numbers<T>({1, 2, 0, 3, 0, 4, 0}));
    EXPECT_THROW(made.band(2), InvalidArgument);

    const Csr<T> wide(3, {0, 1, 1, 1}, {2}, Array<T>(numbers<T>({1})));
    EXPECT_EQ(complaint<InvalidArgument>([&] { to_banded(ctx, wide); }),
              "banded: a(0, 2) (counted from 0) lies outside of 3 diagonals");
    EXPECT_EQ(contents(to_banded(ctx, wide, 5).band(2)), numbers<T>({1, 0, 0}));
    const Csr<T> rectangular(4, {0, 0, 0, 0}, Array<std::int32_t>(), Array<T>());
    EXPECT_THROW(to_banded(ctx, rectangular), ShapeMismatch);
    EXPECT_THROW(to_banded(ctx, A, BandLayout::single(4)), ShapeMismatch);
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                to_banded(ctx, A, {3, 1, 2, 1});
              }),
              "banded: a layout without padding is needed for a matrix in CSR");
  });
}

/// Whatever the direction of the lines, band k of point p is the entry k steps along its line.
TEST_P(ToBanded, takes_the_lines_of_a_grid) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n[] = {5, 4, 3};
    const auto at = [&](int x, int y, int z) { return x + n[0] * (y + n[1] * z); };
    std::vector<std::int32_t> offsets{0}, columns;
    std::vector<T> values;
    const auto value = [](std::int32_t row, std::int32_t col) {
      return T(static_cast<real_t<T>>(100 * row + col + 1));
    };
    for (int z = 0; z < n[2]; ++z)
      for (int y = 0; y < n[1]; ++y)
        for (int x = 0; x < n[0]; ++x) {
          const int row = at(x, y, z);
          for (const int col :
               {z ? at(x, y, z - 1) : -1, y ? at(x, y - 1, z) : -1, x ? row - 1 : -1, row, x + 1 < n[0] ? row + 1 : -1,
                y + 1 < n[1] ? at(x, y + 1, z) : -1, z + 1 < n[2] ? at(x, y, z + 1) : -1})
            if (col >= 0) columns.push_back(col), values.push_back(value(row, col));
          offsets.push_back(static_cast<std::int32_t>(columns.size()));
        }
    const Csr<T> A(60, Array<std::int32_t>(offsets), Array<std::int32_t>(columns), Array<T>(values));
    for (int direction = 0; direction < 3; ++direction) {
      const BandLayout l = BandLayout::lines(n[0], n[1], n[2], direction);
      EXPECT_EQ(complaint<InvalidArgument>([&] { to_banded(ctx, A, l); }).substr(0, 12), "banded: a(0,");
      const Banded<T> made = to_banded(ctx, A, l, 3, OutsideBands::refused_in_systems);
      const int step = direction == 0 ? 1 : direction == 1 ? n[0] : n[0] * n[1];
      for (std::int32_t p = 0; p < 60; ++p) {
        const auto i = l.row_at(p);
        EXPECT_EQ(i, p / step % n[direction]);
        const auto expected = [&](int k) { return i + k < 0 || i + k >= n[direction] ? T(0) : value(p, p + k * step); };
        for (int k = -1; k <= 1; ++k) ASSERT_EQ(made.band(k).host()[static_cast<std::size_t>(p)], expected(k));
      }
    }
    // Along a line of 20 points, neighbors in the second direction are five steps away.
    EXPECT_EQ(complaint<InvalidArgument>(
                  [&] { to_banded(ctx, A, BandLayout::lines(20, 3, 1, 0), 3, OutsideBands::refused_in_systems); }),
              "banded: a(0, 5) (counted from 0) lies outside of 3 diagonals of its system");
    EXPECT_NO_THROW(to_banded(ctx, A, BandLayout::lines(20, 3, 1, 0), 3, OutsideBands::dropped));
  });
}

INSTANTIATE_TEST_SUITE_P(, ToBanded, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
