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
              "banded: a layout without padding is needed for a matrix in CSR or DIA");
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

/// Systems in each order, diagonals of which one is missing: the bands are the memory of the diagonals, on the
/// context's side, and of no other. What the last of them says of a system's neighbor may be left out.
TEST_P(ToBanded, takes_diagonals_over) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const BandLayout& l : {BandLayout::single(12), BandLayout::strided(4, 3), BandLayout::interleaved(4, 3),
                                BandLayout::lines(3, 2, 2, 1)})
      for (const int diagonals : {3, 5}) {
        const int most = diagonals / 2, missing = most == 2 ? 1 : 2;
        const auto value = [&](std::int64_t p, int k) {
          const std::int64_t row = l.row_at(p) + k;
          return k == missing || row < 0 || row >= l.rows ? T(0) : T(static_cast<real_t<T>>(10 * p + k + 1));
        };
        std::vector<std::int32_t> offsets;
        std::vector<T> entries;
        for (int k = -most; k <= most; ++k) {
          if (k == missing || std::abs(k * l.row_stride) >= 12) continue;
          offsets.push_back(static_cast<std::int32_t>(k * l.row_stride));
          for (std::int64_t p = 0; p < 12; ++p) entries.push_back(value(p, k));
        }
        const std::size_t stored = offsets.size();
        Array<T> values(std::move(entries));
        const kernel_t<T>* memory = nullptr;
        ctx.dispatch([&](const auto& where) { memory = values.update(where); });
        Dia<T> A(12, 12, 60, Array<std::int32_t>(std::move(offsets)), std::move(values));
        validate(A);
        const Banded<T> made = to_banded(ctx, std::move(A), l, diagonals);
        std::size_t adopted = 0;
        for (int k = -most; k <= most; ++k) {
          ctx.dispatch([&](const auto& where) {
            const auto* const band = made.band(k).read(where);
            if (band == memory + adopted * 12) ++adopted;
          });
          for (std::int64_t p = 0; p < 12; ++p)
            ASSERT_EQ(made.band(k).host()[static_cast<std::size_t>(p)], value(p, k)) << p << " " << k;
        }
        EXPECT_EQ(adopted, stored);
        EXPECT_EQ(made.layout(), l);
      }
  });
}

TEST_P(ToBanded, refuses_diagonals_that_are_no_bands) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto matrix = [](std::vector<std::int32_t> offsets) {
      const std::size_t n = 6, many = offsets.size();
      std::vector<T> values(many * n, T(1));
      for (std::size_t d = 0; d < many; ++d)
        for (std::size_t p = 0; p < n; ++p)
          if (const int col = static_cast<int>(p) + offsets[d]; col < 0 || col >= 6) values[d * n + p] = T(0);
      return Dia<T>(6, 6, 36, Array<std::int32_t>(std::move(offsets)), Array<T>(std::move(values)));
    };
    const auto refused = [&](Dia<T>&& A, const BandLayout& l) {
      const std::string said = complaint<InvalidArgument>([&] { to_banded(ctx, std::move(A), l); });
      EXPECT_EQ(A.values().size(), 6 * A.diagonals());  // as it was
      EXPECT_EQ(A.values().host()[5], T(A.offsets().host()[0] > 0 ? 0 : 1));
      return said;
    };
    EXPECT_EQ(refused(matrix({0, 3}), BandLayout::single(6)), "banded: the diagonal 3 of the matrix is none of 3");
    EXPECT_EQ(refused(matrix({-2, 0, 1}), BandLayout::interleaved(3, 2)),
              "banded: the diagonal 1 of the matrix is none of 3 of its systems");
    EXPECT_EQ(refused(matrix({-1, 0, 1}), BandLayout::strided(3, 2)),
              "banded: a(2, 3) (counted from 0) lies outside of 3 diagonals of its system");
    EXPECT_EQ(refused(matrix({0}), {6, 1, 2, 1}),
              "banded: a layout without padding is needed for a matrix in CSR or DIA");
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                Dia<T> A(2, 2, 1, 2, Array<std::int64_t>{0, 1}, Array<std::int32_t>{0}, Array<T>{T(1), T(0)});
                to_banded(ctx, std::move(A));
              }),
              "banded: diagonals of hacks of rows cannot be bands; bring the matrix into CSR or DIA");
    EXPECT_THROW(to_banded(ctx, matrix({0}), BandLayout::single(5)), ShapeMismatch);
    EXPECT_NO_THROW(
        to_banded(ctx, matrix({-2, 0, 1}), BandLayout::interleaved(3, 2), 3, OutsideBands::refused_in_systems));
    EXPECT_NO_THROW(to_banded(ctx, matrix({-1, 0, 1}), BandLayout::strided(3, 2), 3, OutsideBands::dropped));
    EXPECT_THROW(to_banded(ctx, matrix({-4, 0, 2}), BandLayout::interleaved(3, 2), 3, OutsideBands::refused_in_systems),
                 InvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(, ToBanded, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
