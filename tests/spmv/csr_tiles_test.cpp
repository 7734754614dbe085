#include "sparse/spmv/csr_tiles.hpp"

#include <algorithm>

#include "sparse/spmv/csr_tiles_passes.hpp"
#include "sparse/spmv/spmv.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {

using namespace detail;
namespace {

struct Found {
  CsrTiling tiling;
  std::vector<CsrTile> tiles;
  std::vector<std::int32_t> starts;
};

/// What find_tiles finds, pass by pass.
Found find(const CsrTiling& tiling, const std::vector<std::int64_t>& offsets, int base) {
  const auto rows = static_cast<std::int32_t>(offsets.size() - 1);
  const std::int32_t count = tiling.count(rows, offsets.back() - base);
  Found found{tiling, std::vector<CsrTile>(static_cast<std::size_t>(count) + 1),
              std::vector<std::int32_t>(static_cast<std::size_t>(count) + 1)};
  std::vector<unsigned> arrived(static_cast<std::size_t>(count), 7u);
  const FindTiles<std::int64_t> pass{
      tiling, count, rows, base, offsets.data(), found.tiles.data(), arrived.data(), found.starts.data()};
  for (std::int64_t t = 0; t <= count; ++t) pass.entry(t);
  const MarkUnevenTiles<std::int64_t> mark{tiling, count, base, offsets.data(), found.tiles.data()};
  for (std::int64_t i = 0; i < rows; ++i) mark.entry(i);
  EXPECT_TRUE(std::ranges::all_of(arrived, [](unsigned a) { return a == 0; }));
  return found;
}

/// Every entry and row belongs to one tile, none has more than there is room for, and a row that does not end in the
/// tile in which it begins is long and known as such.
void expect_partition(const Found& found, const std::vector<std::int64_t>& offsets, int base) {
  const auto offset = [&](std::int64_t row) { return offsets[static_cast<std::size_t>(row)] - base; };
  const auto rows = static_cast<std::int32_t>(offsets.size() - 1);
  const auto& tiles = found.tiles;
  ASSERT_EQ(tiles.front().row, 0);
  ASSERT_EQ(tiles.front().entry, 0);
  ASSERT_EQ(tiles.back().row, rows);
  ASSERT_EQ(tiles.back().entry, offset(rows));
  std::vector<std::int32_t> long_rows, listed;
  for (std::size_t t = 0; t + 1 < tiles.size(); ++t) {
    const CsrTile &a = tiles[t], &b = tiles[t + 1];
    ASSERT_LE(a.row, b.row);
    ASSERT_LE(a.entry, b.entry);
    ASSERT_LE(b.entry - a.entry, found.tiling.capacity()) << "tile " << t;
    if (a.entry < offset(a.row)) {  // the row before goes on here
      ASSERT_LE(static_cast<std::int64_t>(t), found.tiling.last_tile(a.row - 1, offset(a.row)));
      ASSERT_FALSE(long_rows.empty());
      ASSERT_EQ(long_rows.back(), a.row - 1);
      ASSERT_EQ(a.began, found.tiling.first_tile(a.row - 1, offset(a.row - 1)));
    }
    for (std::int32_t row = a.row; row < b.row; ++row)
      if (offset(row + 1) - offset(row) > even_row) {
        ASSERT_GE(a.began, 0) << "row " << row << " of tile " << t;
      }
    if (found.starts[t]) listed.push_back(a.row - 1);
    for (std::int32_t row = a.row; row < b.row; ++row) {
      if (offset(row + 1) <= b.entry) continue;
      ASSERT_EQ(row, b.row - 1) << "a row that goes on is the last one of its tile";
      ASSERT_TRUE(found.tiling.is_long(row, offset(row), offset(row + 1)));
      ASSERT_EQ(found.tiling.first_tile(row, offset(row)), static_cast<std::int64_t>(t));
      long_rows.push_back(row);
    }
  }
  EXPECT_EQ(long_rows, listed);
  EXPECT_LE(std::ssize(long_rows), found.tiling.max_long_rows(offset(rows)));
}

TEST(CsrTiles, cover_every_profile_of_rows) {
  std::mt19937_64 engine(91);
  const std::vector<std::vector<int>> choices{{0},           {5},  {0, 0, 0, 1}, {1, 2, 3, 400},
                                              {3, 7, 9'000}, {27}, {0, 100'000}, {2000}};
  const CsrTiling tilings[] = {{CsrKernel::staged, 0, 256, 64},
                               {CsrKernel::staged, 0, 1738, 64},
                               {CsrKernel::products, 0, 1792, 1024},
                               {CsrKernel::lanes, 4, 6825, 1024}};
  for (const auto& lengths : choices)
    for (const int rows : {1, 7, 1000, 3333})
      for (const int base : {0, 1}) {
        std::vector<std::int64_t> offsets{base};
        for (int i = 0; i < rows; ++i) offsets.push_back(offsets.back() + lengths[engine() % lengths.size()]);
        for (const CsrTiling& tiling : tilings) expect_partition(find(tiling, offsets, base), offsets, base);
        expect_partition(find(CsrTiling::of(rows, offsets.back() - base), offsets, base), offsets, base);
        for (const int dim : {1, 2, 3, 16, 64}) {
          const Blocking blocks{dim, dim, dim == 3 ? BlockOrder::column_major : BlockOrder::row_major};
          expect_partition(find(CsrTiling::of(rows, offsets.back() - base, blocks, 8), offsets, base), offsets, base);
        }
      }
}

TEST(CsrTiles, count_a_matrix_of_more_than_2_to_the_31_entries) {
  const CsrTiling tiling = CsrTiling::of(1'000'000'000, 7'000'000'000);
  EXPECT_EQ(tiling.kernel, CsrKernel::staged);
  EXPECT_NEAR(tiling.count(1'000'000'000, 7'000'000'000), 7e9 / tiling.entries, 1e5);
  EXPECT_TRUE(tiling.is_long(5, 6'000'000'000, 6'500'000'000));
  EXPECT_FALSE(tiling.is_long(5, 6'000'000'000, 6'000'000'007));
}

using HugeOffsets = OnBackendAndScalar;

/// The rows lie beyond entry 2^31: a view whose arrays begin so far before memory that is there, and of which only the
/// end is read.
TEST_P(HugeOffsets, are_followed_by_csr) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    using K = kernel_t<T>;
    constexpr std::int64_t skipped = (std::int64_t{1} << 31) + 64;
    const Csr<T> A =
        random_csr<T>(92, {"sparse", 3000, 2500, [](std::int32_t row, std::mt19937_64&) { return row % 9; }});
    std::vector<std::int64_t> offsets;
    for (const std::int32_t offset : A.row_offsets().host()) offsets.push_back(skipped + offset);
    const Array<std::int64_t> far(offsets);
    const Array<T> x(random_vector<T>(93, A.cols()));
    Array<T> y(A.rows()), expected(A.rows());
    spmv(ctx, Op::none, T(1), A, x, T(0), expected);
    const auto check = [&](const auto& multiply) {
      ctx.dispatch([&](const auto& where) {
        const CsrView<const K, std::int64_t> view{A.rows(),
                                                  A.cols(),
                                                  skipped + A.nnz(),
                                                  far.read(where),
                                                  A.col_indices().read(where) - skipped,
                                                  A.values().read(where) - skipped};
        multiply(where, krill::Product<CsrView<const K, std::int64_t>>{
                            {K(1)}, view, x.read(where), {K(0)}, y.write(where), {}});
      });
      for (std::size_t i = 0; i < expected.host().size(); ++i)
        ASSERT_LE(std::abs(y.host()[i] - expected.host()[i]), 64 * epsilon<T>() * 9) << "row " << i;
    };
    check([](const auto& where, const auto& p) { run_product(where, p); });
    for (const CsrTiling& tiling :
         {CsrTiling{CsrKernel::staged, 0, 1738, 64}, CsrTiling{CsrKernel::products, 0, 1792, 1024},
          CsrTiling{CsrKernel::lanes, 4, 6825, 1024}})
      check([&]<class Where>(const Where& where, const auto& p) {
        if constexpr (std::is_same_v<Where, Cuda>) {
          const std::int32_t count = tiling.count(p.a.rows, p.a.nnz);
          Array<CsrTile> tiles(count + 1);
          Array<K> sums(2 * std::int64_t{count});
          Array<unsigned> arrived(count);
          Array<std::int32_t> long_starts(count + 2), long_rows(tiling.max_long_rows(p.a.nnz));
          const CsrTilesView view{tiling,
                                  count,
                                  tiles.write(where),
                                  sums.write(where),
                                  arrived.write(where),
                                  long_starts.write(where),
                                  long_rows.write(where)};
          find_tiles(where, p.a.rows, p.a.nnz, p.a.row_offsets, p.a.base, view);
          run_product(where, p, view);
          device::synchronize(where.stream);
        } else {
          run_product(where, p);
        }
      });
  });
}

INSTANTIATE_TEST_SUITE_P(, HugeOffsets, backends_and_scalars, param_name);

using ShortRows = OnBackendAndScalar;

/// Circuits: most rows are short, a few cross tiles or fill many of them. With as few blocks as one multiprocessor
/// holds, each block takes many tiles and fills its stages again and again.
TEST_P(ShortRows, may_lie_beside_long_ones) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    using K = kernel_t<T>;
    const Shape shapes[] = {
        {"circuit", 20'000, 3000,
         [](std::int32_t, std::mt19937_64& e) {
           const auto dice = e() % 1000;
           return static_cast<std::int32_t>(dice < 2 ? 300 + e() % 2700 : dice < 30 ? 20 + e() % 100 : e() % 8);
         }},
        {"two giants among empty rows", 40'000, 90'000,
         [](std::int32_t row, std::mt19937_64&) {
           return row == 17 || row == 39'999 ? 80'000 : row % 11 == 0 ? 3 : 0;
         }},
        {"one giant", 12'000, 50'000,
         [](std::int32_t row, std::mt19937_64& e) {
           return row == 6000 ? 50'000 : static_cast<std::int32_t>(e() % 7);
         }},
        {"33 or none", 9000, 1000, [](std::int32_t, std::mt19937_64& e) { return e() % 5 == 0 ? 33 : 0; }},
    };
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(shape.name);
      const Csr<T> A = random_csr<T>(94, shape);
      ASSERT_EQ(CsrTiling::of(A.rows(), A.nnz()).kernel, CsrKernel::staged);
      const auto x = random_vector<T>(95, A.cols()), y0 = random_vector<T>(96, A.rows());
      const Array<T> ax(x);
      const auto expected = product(Op::none, 2.0, reference(A), to_reference(x), 3.0, to_reference(y0), epsilon<T>());
      std::vector<T> first;
      for (int round = 0; round < 3; ++round) {
        Array<T> y(y0);
        Array<wide_t<T>> dot(1);
        ctx.dispatch([&](auto where) {
          if constexpr (std::is_same_v<decltype(where), Cuda>)
            if (round < 2) where.multiprocessors = 1;
          const DotsView<K> dots{ax.read(where), dot.write(where)};
          const krill::Product<CsrView<const K>> p{
              {K(2)}, A.view(where),   ax.read(where),
              {K(3)}, y.update(where), round == 1 && A.rows() <= A.cols() ? dots : DotsView<K>{}};
          run_product(where, p);
        });
        ASSERT_EQ(static_cast<std::size_t>(y.size()), expected.y.size());
        for (std::size_t i = 0; i < expected.y.size(); ++i)
          ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "row " << i << ", round " << round;
        if (round == 0) first.assign(y.host().begin(), y.host().end());
        if (round != 1) {
          ASSERT_TRUE(std::ranges::equal(y.host(), first));
        }
        if (round != 1 || A.rows() > A.cols()) continue;
        Z sum = 0;
        for (std::size_t i = 0; i < first.size(); ++i) sum += std::conj(Z(x[i])) * Z(first[i]);
        EXPECT_LE(std::abs(Z(dot.host()[0]) - sum), 1e-11 * static_cast<double>(A.nnz()));
      }
    }
  });
}

/// Wherever a tile ends, at the beginning of a long row, too, which then has no entry in the tile where it begins.
TEST_P(ShortRows, may_have_a_long_one_after_any_number_of_them) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    using K = kernel_t<T>;
    static std::int32_t before = 0;
    for (before = 1620; before < 1660; ++before) {  // 1639 in the second tile of all three
      const Shape shape{"", 3000, 3000,
                        [](std::int32_t row, std::mt19937_64&) { return row == before ? 2500 : row % 2; }};
      const Csr<T> A = random_csr<T>(97, shape);
      const auto x = random_vector<T>(98, A.cols()), y0 = random_vector<T>(99, A.rows());
      const Array<T> ax(x);
      const auto once = product(Op::none, 1.0, reference(A), to_reference(x), 1.0, to_reference(y0), epsilon<T>());
      for (const CsrTiling& tiling :
           {CsrTiling{CsrKernel::staged, 0, 256, 64}, CsrTiling{CsrKernel::products, 0, 256, 64},
            CsrTiling{CsrKernel::lanes, 4, 256, 64}}) {
        Array<T> y(y0);
        ctx.dispatch([&]<class Where>(const Where& where) {
          const krill::Product<CsrView<const K>> p{{K(1)}, A.view(where), ax.read(where), {K(1)}, y.update(where), {}};
          if constexpr (std::is_same_v<Where, Cuda>) {
            Frame frame(where);
            const CsrTilesView view = take_tiles(frame, tiling, p.a.rows, p.a.nnz, sizeof(T));
            find_tiles(where, p.a.rows, p.a.nnz, p.a.row_offsets, p.a.base, view);
            run_product(where, p, view);
          } else {
            run_product(where, p);
          }
        });
        for (std::size_t i = 0; i < once.y.size(); ++i)
          ASSERT_LE(std::abs(Z(y.host()[i]) - once.y[i]), once.bound[i]) << "row " << i << ", long row " << before;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, ShortRows, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
