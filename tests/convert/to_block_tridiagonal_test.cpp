// From BSR and CSR to block tridiagonal matrices.
#include "sparse/convert/to_block_tridiagonal.hpp"

#include "sparse/convert/formats.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"

namespace krill::test {
namespace {

using ToBlockTridiagonal = OnBackendAndScalar;

template <class T>
Array<T> counted(std::int64_t n) {
  std::vector<T> values;
  for (std::int64_t k = 1; k <= n; ++k) values.push_back(T(static_cast<real_t<T>>(k)));
  return Array<T>(std::move(values));
}
template <class T>
std::vector<T> entries(const std::vector<double>& values) {
  std::vector<T> converted;
  for (const double value : values) converted.push_back(T(static_cast<real_t<T>>(value)));
  return converted;
}

/// Blocks (0, 0), (0, 1), (1, 1), (2, 1) of two rows, with the numbers from 1 on.
template <class T>
Bsr<T> three_rows(BlockOrder order = BlockOrder::row_major) {
  return {6, 6, {2, 2, order}, {0, 2, 3, 4}, {0, 1, 1, 1}, counted<T>(16)};
}

TEST_P(ToBlockTridiagonal, takes_one_matrix_and_gives_it_back) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BlockTridiagonal<T> made = to_block_tridiagonal(ctx, three_rows<T>());
    EXPECT_EQ(contents(made.band(-1)), entries<T>({0, 0, 0, 0, 0, 0, 0, 0, 13, 14, 15, 16}));
    EXPECT_EQ(contents(made.band(0)), entries<T>({1, 2, 3, 4, 9, 10, 11, 12, 0, 0, 0, 0}));
    EXPECT_EQ(contents(made.band(1)), entries<T>({5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0}));
    const BlockTridiagonal<T> turned = to_block_tridiagonal(ctx, three_rows<T>(BlockOrder::column_major));
    EXPECT_EQ(contents(turned.band(0)), entries<T>({1, 3, 2, 4, 9, 11, 10, 12, 0, 0, 0, 0}));

    const Bsr<T> back = made.to_bsr();
    EXPECT_EQ(contents(back.row_offsets()), (std::vector<std::int32_t>{0, 2, 5, 7}));
    EXPECT_EQ(contents(back.col_indices()), (std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2}));
    EXPECT_EQ(contents(to_block_tridiagonal(ctx, back).band(-1)), contents(made.band(-1)));
    const Csr<T> rows = to_csr<T>(ctx, back);
    const BlockTridiagonal<T> of_csr = to_block_tridiagonal(ctx, rows, 2);
    for (int k = -1; k <= 1; ++k) EXPECT_EQ(contents(of_csr.band(k)), contents(made.band(k)));
  });
}

/// Two systems of two block rows, one after the other and interleaved.
TEST_P(ToBlockTridiagonal, takes_batches) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Bsr<T> strided(8, 8, {2, 2}, {0, 2, 3, 4, 6}, {0, 1, 1, 2, 2, 3}, counted<T>(24));
    const auto made = to_block_tridiagonal(ctx, strided, BandLayout::strided(2, 2));
    EXPECT_EQ(contents(made.band(1)), entries<T>({5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(contents(made.band(-1)), entries<T>({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 18, 19, 20}));
    const Bsr<T> interleaved(8, 8, {2, 2}, {0, 2, 3, 4, 6}, {0, 2, 1, 2, 1, 3}, counted<T>(24));
    const auto across = to_block_tridiagonal(ctx, interleaved, BandLayout::interleaved(2, 2));
    EXPECT_EQ(contents(across.band(1)), entries<T>({5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(contents(across.band(-1)), entries<T>({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 18, 19, 20}));

    EXPECT_EQ(complaint<InvalidArgument>([&] { to_block_tridiagonal(ctx, interleaved, BandLayout::strided(2, 2)); }),
              "block tridiagonal: block (0, 2) (counted from 0) lies outside of the block diagonals of its system");
    const auto dropped = to_block_tridiagonal(ctx, interleaved, BandLayout::strided(2, 2), OutsideBands::dropped);
    EXPECT_EQ(contents(dropped.band(1)), entries<T>(std::vector<double>(16, 0)));
    EXPECT_EQ(contents(dropped.band(0)), entries<T>({1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24}));
  });
}

TEST_P(ToBlockTridiagonal, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Bsr<T> far(6, 6, {2, 2}, {0, 1, 2, 4}, {0, 1, 0, 2}, counted<T>(16));
    EXPECT_EQ(complaint<InvalidArgument>([&] { to_block_tridiagonal(ctx, far); }),
              "block tridiagonal: block (2, 0) (counted from 0) lies outside of the block diagonals");
    const Csr<T> far_entry(6, {0, 0, 0, 0, 0, 0, 1}, {1}, counted<T>(1));
    EXPECT_EQ(complaint<InvalidArgument>([&] { to_block_tridiagonal(ctx, far_entry, 2); }),
              "block tridiagonal: block (2, 0) (counted from 0) lies outside of the block diagonals");
    EXPECT_NO_THROW(to_block_tridiagonal(ctx, far_entry, 3));
    EXPECT_EQ(complaint<InvalidArgument>([&] { to_block_tridiagonal(ctx, far_entry, 0); }),
              "block tridiagonal: size of blocks is 0, 1 to 8 were expected");
    EXPECT_THROW(to_block_tridiagonal(ctx, far_entry, 4), ShapeMismatch);
    EXPECT_THROW(to_block_tridiagonal(ctx, three_rows<T>(), BandLayout::single(4)), ShapeMismatch);
    const Bsr<T> oblong(6, 6, {2, 3}, {0, 0, 0, 0}, Array<std::int32_t>(), Array<T>());
    EXPECT_EQ(complaint<InvalidArgument>([&] { to_block_tridiagonal(ctx, oblong); }),
              "block tridiagonal: a matrix in blocks of 2 x 3 for blocks of 2");
    const Bsr<T> wide(2, 4, {2, 2}, {0, 0}, Array<std::int32_t>(), Array<T>());
    EXPECT_THROW(to_block_tridiagonal(ctx, wide), ShapeMismatch);
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                to_block_tridiagonal(ctx, three_rows<T>(), {3, 1, 2, 1});
              }),
              "block tridiagonal: a layout without padding is needed for a matrix in BSR or CSR");
  });
}

INSTANTIATE_TEST_SUITE_P(, ToBlockTridiagonal, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
