#include "sparse/banded/rearrange.hpp"

#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Rearrangements = OnBackendAndScalar;

/// Few rows, few systems, more than a tile of both; padding; lines of a grid.
std::vector<std::pair<BandLayout, BandLayout>> pairs_of_layouts() {
  std::vector<std::pair<BandLayout, BandLayout>> all;
  for (const auto& [rows, batch] : std::vector<std::pair<std::int32_t, std::int32_t>>{
           {1, 1}, {1, 1500}, {3, 700}, {16, 65}, {33, 31}, {70, 100}, {700, 3}, {2100, 1}, {257, 129}})
    for (const auto& from : layouts(rows, batch))
      for (const auto& to : layouts(rows, batch)) all.emplace_back(from, to);
  for (const int direction : {0, 1, 2}) {
    const BandLayout lines = BandLayout::lines(37, 40, 5, direction);
    all.emplace_back(lines, BandLayout::interleaved(lines.rows, lines.batch));
    all.emplace_back(BandLayout::strided(lines.rows, lines.batch, lines.rows + 1), lines);
  }
  return all;
}

TEST_P(Rearrangements, put_every_row_in_its_place_and_leave_padding_alone) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T kept = number<T>(777);
    for (const auto& [from, to] : pairs_of_layouts()) {
      const Array<T> source(random_rhs<T>(3, from, nan_of<T>()));
      Array<T> target(std::vector<T>(static_cast<std::size_t>(to.extent()), kept));
      rearrange(ctx, from, source, to, target);
      std::vector<T> expected(static_cast<std::size_t>(to.extent()), kept);
      for (std::int64_t j = 0; j < from.batch; ++j)
        for (std::int64_t i = 0; i < from.rows; ++i) expected[place(to, i, j)] = source.host()[place(from, i, j)];
      ASSERT_EQ(contents(target), expected) << from.rows << " rows of " << from.batch;
    }
  });
}

TEST_P(Rearrangements, of_matrices_have_the_same_solutions) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BandLayout l = BandLayout::strided(40, 50, 43), other = BandLayout::interleaved(40, 50);
    for (const int diagonals : {3, 5}) {
      const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
      const Array<T> b(random_rhs<T>(6, l, T(0)));
      Array<T> x(l.extent()), b_there(other.extent()), x_there(other.extent()), back(l.extent());
      BandedPlan<T>(ctx, l, diagonals, BandedMethod::lu).solve(ctx, A, b, x);
      const Banded<T> B = rearranged(ctx, A, other);
      rearrange(ctx, l, b, other, b_there);
      BandedPlan<T>(ctx, other, diagonals, BandedMethod::lu).solve(ctx, B, b_there, x_there);
      rearrange(ctx, other, x_there, l, back);
      for (std::int64_t j = 0; j < l.batch; ++j)
        for (std::int64_t i = 0; i < l.rows; ++i) ASSERT_EQ(x.host()[place(l, i, j)], back.host()[place(l, i, j)]);
    }
  });
}

TEST_P(Rearrangements, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BandLayout l = BandLayout::strided(30, 70), other = BandLayout::interleaved(30, 70);
    const Array<T> b(random_rhs<T>(6, l, T(0))), zeros(std::vector<T>(static_cast<std::size_t>(l.extent())));
    Array<T> x(other.extent()), back(l.extent());
    replay(ctx, [&] { rearrange(ctx, l, b, other, x); });
    run_skipped(ctx, [&] { rearrange(ctx, l, zeros, other, x); });
    rearrange(ctx, other, x, l, back);
    EXPECT_EQ(contents(back), contents(b));
  });
}

TEST_P(Rearrangements, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BandLayout l = BandLayout::strided(4, 3), other = BandLayout::interleaved(4, 3);
    Array<T> x(12), y(12), longer(13);
    EXPECT_EQ(complaint<InvalidArgument>([&] { rearrange(ctx, l, x, BandLayout::interleaved(3, 4), y); }),
              "rearrange: 4 rows of 3 systems into 3 rows of 4");
    EXPECT_THROW(rearrange(ctx, l, x, BandLayout::interleaved(4, 3, 2), y), InvalidArgument);
    EXPECT_THROW(rearrange(ctx, l, longer, other, y), ShapeMismatch);
    EXPECT_THROW(rearrange(ctx, l, x, other, longer), ShapeMismatch);
    EXPECT_THROW(rearrange(ctx, l, x, other, x), InvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(, Rearrangements, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
