// Which block size is chosen where none is named.
#include <cmath>
#include <limits>
#include <set>

#include "sparse/convert/formats.hpp"
#include "sparse/convert/to_format.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

class BlockChoice : public OnBackend {};

/// Rows of a matrix whose entries come in dense squares of dim x dim, so many beside each other.
struct Part {
  std::int32_t rows, dim, squares;
};

/// Those parts below each other, the squares in random places. Parts begin at a multiple of 840 rows, so that squares
/// of every size lie on blocks.
Csr<double> of_squares(const std::vector<Part>& parts) {
  constexpr std::int32_t cols = 8400;
  std::vector<std::int32_t> offsets{0}, columns;
  std::mt19937_64 engine(61);
  for (const Part& part : parts)
    for (std::int32_t top = 0; top < part.rows; top += part.dim) {
      std::set<std::int32_t> lefts;
      while (std::ssize(lefts) < part.squares)
        lefts.insert(static_cast<std::int32_t>(engine() % static_cast<std::uint64_t>(cols / part.dim)) * part.dim);
      for (std::int32_t i = 0; i < part.dim; ++i) {
        for (const std::int32_t left : lefts)
          for (std::int32_t j = 0; j < part.dim; ++j) columns.push_back(left + j);
        offsets.push_back(static_cast<std::int32_t>(columns.size()));
      }
    }
  std::vector<double> values(columns.size(), 1.0);
  return {cols, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// The numbers of blocks by merging rows, as conversions find them.
template <class T, class Offset>
std::array<std::int64_t, largest_square + 1> counted_squares(Context& ctx, const Csr<T, Offset>& A) {
  std::array<std::int64_t, largest_square + 1> blocks{};
  for (std::int32_t dim = smallest_square; dim <= largest_square; ++dim)
    blocks[static_cast<std::size_t>(dim)] = stored_blocks(ctx, A, {dim, dim});
  return blocks;
}

/// The size that takes the least memory by those.
template <class T, class Offset>
std::int32_t best_by_counting(Context& ctx, const Csr<T, Offset>& A) {
  const auto blocks = counted_squares(ctx, A);
  const auto bytes = [&](std::int32_t dim) {
    return bsr_bytes<T>(A.rows(), blocks[static_cast<std::size_t>(dim)], {dim, dim});
  };
  std::int32_t best = smallest_square;
  for (std::int32_t dim = smallest_square; dim <= largest_square; ++dim)
    if (bytes(dim) < bytes(best)) best = dim;
  return best;
}

TEST_P(BlockChoice, small_matrices_are_counted_exactly) {
  Context ctx = context();
  for (const Shape& shape : nasty_shapes()) {
    SCOPED_TRACE(shape.name);
    const Csr<float> A = random_csr<float>(62, shape);
    const Csr<double, std::int64_t> wide = random_csr<double, std::int64_t>(63, shape);
    ASSERT_LE(A.nnz(), 524'288);
    EXPECT_EQ(estimated_squares(ctx, A), counted_squares(ctx, A));
    EXPECT_EQ(estimated_squares(ctx, wide), counted_squares(ctx, wide));
    EXPECT_EQ(best_block_dim(ctx, A), best_by_counting(ctx, A));
  }
}

TEST_P(BlockChoice, dense_squares_are_found_in_small_and_large_matrices) {
  Context ctx = context();
  for (const std::int32_t rows : {840, 168'000})
    for (std::int32_t dim = smallest_square; dim <= largest_square; ++dim) {
      const Csr<double> A = of_squares({{rows, dim, 3}});
      EXPECT_EQ(best_block_dim(ctx, A), dim) << rows << " rows";
    }
}

TEST_P(BlockChoice, large_matrices_are_estimated_closely_and_the_same_everywhere) {
  Context ctx = context(), one = Context::host(1), two = Context::host(2);
  const auto check = [&](const char* what, const auto& A) {
    SCOPED_TRACE(what);
    ASSERT_GT(A.nnz(), 524'288);
    const auto estimated = estimated_squares(ctx, A), counted = counted_squares(ctx, A);
    for (std::size_t dim = smallest_square; dim <= largest_square; ++dim)
      EXPECT_NEAR(static_cast<double>(estimated[dim]), static_cast<double>(counted[dim]),
                  0.02 * static_cast<double>(counted[dim]))
          << "blocks of " << dim;
    EXPECT_EQ(estimated_squares(one, A), estimated);
    EXPECT_EQ(estimated_squares(two, A), estimated);
    EXPECT_EQ(best_block_dim(ctx, A), best_by_counting(ctx, A));
  };
  check("entries with a period of five", poisson2d<float>(600));
  check("a band of squares beside single entries", of_squares({{42'000, 4, 4}, {42'000, 1, 2}}));
  check("mostly single entries", of_squares({{16'800, 7, 4}, {168'000, 1, 4}}));
  check("three sizes", of_squares({{16'800, 3, 8}, {16'800, 8, 2}, {16'800, 2, 6}, {1'680, 5, 40}}));
  check("many empty rows", random_csr<double, std::int64_t>(64, {"", 600'000, 9'000, [](std::int32_t i, auto&) {
                                                                   return i % 1'000 < 900 ? 0 : 12;
                                                                 }}));
  check("one row of many",
        random_csr<float>(65, {"", 80'000, 300'000, [](std::int32_t i, auto&) { return i == 7'777 ? 200'000 : 6; }}));
  check("dense rows", random_csr<double>(66, {"", 400, 2'000, [](std::int32_t, auto&) { return 1'900; }}));
}

INSTANTIATE_TEST_SUITE_P(, BlockChoice, backends, param_name);

}  // namespace
}  // namespace krill::test
