// Systems divided into chunks, chunk after chunk by one thread: the same functions as on CUDA.
#include "sparse/banded/partition.hpp"

#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using detail::ChunkRows, detail::Equation, detail::no_row;

/// Words of rows as kernels keep them, and the first row whose unknown has no pivot.
template <class T>
struct Divided {
  std::vector<T> x;
  std::int32_t zero_row = no_row;
};

template <BandedMethod method, bool three_bands, class T>
Divided<T> solve_divided(std::vector<T> words, std::int32_t rows, std::int32_t chunk) {
  const auto at = [&](std::int32_t row) { return ChunkRows<T, three_bands>{words.data() + row, rows, 1}; };
  const detail::BandLevel level{rows, chunk};
  Divided<T> result;
  std::vector<T> left(static_cast<std::size_t>(10 * level.chunks()));
  for (std::int32_t c = 0; c < level.chunks(); ++c) {
    Equation<T, 4> row[2];
    std::int32_t zero_row = no_row;
    detail::reduce_chunk<method>(at(c * chunk), level.pairs_of(c), row, zero_row);
    if (zero_row != no_row) result.zero_row = std::min(result.zero_row, c * chunk + zero_row);
    for (int r = 0; r < 2; ++r) {
      for (int w = 0; w < 4; ++w) left[static_cast<std::size_t>((w * level.chunks() + c) * 2 + r)] = row[r].entry[w];
      left[static_cast<std::size_t>((4 * level.chunks() + c) * 2 + r)] = row[r].rhs;
    }
  }
  std::vector<T> known(2);
  if (level.chunks() == 1) {
    Equation<T, 4> row[2];
    ChunkRows<T, false>{left.data(), 2, 1}.pair(0, row);
    const int without_pivot = detail::solve_pair<method>(row, known[0], known[1]);
    if (without_pivot & 2) result.zero_row = std::min(result.zero_row, 2 * level.pairs_of(0) - 1);
    if (without_pivot & 1) result.zero_row = 0;
  } else {
    const auto solved = solve_divided<method, false>(left, 2 * level.chunks(), 4);
    known = solved.x;
    if (solved.zero_row != no_row) {
      const std::int32_t c = solved.zero_row / 2;
      result.zero_row = std::min(result.zero_row, c * chunk + (solved.zero_row % 2 == 0 ? 0 : level.rows_of(c) - 1));
    }
  }
  const auto unknown = [&](std::int32_t i) {
    return i < 0 || i >= 2 * level.chunks() ? T(0) : known[static_cast<std::size_t>(i)];
  };
  for (std::int32_t c = 0; c < level.chunks(); ++c)
    detail::substitute_chunk<method>(at(c * chunk), level.pairs_of(c), unknown(2 * c - 1), unknown(2 * c),
                                     unknown(2 * c + 1), unknown(2 * c + 2));
  result.x.assign(words.begin() + 3 * rows, words.begin() + 4 * rows);
  return result;
}

/// One system, with a row x = 0 behind it where it has an odd number of rows.
template <BandedMethod method, class T>
Divided<kernel_t<T>> solve_divided(const Banded<T>& A, std::span<const T> b, std::int32_t chunk) {
  using K = kernel_t<T>;
  const std::int32_t n = A.layout().rows, rows = n + n % 2;
  std::vector<K> words(static_cast<std::size_t>(4 * rows));
  const auto set = [&](int word, std::int32_t i, T value) {
    if constexpr (is_complex<T>)
      words[static_cast<std::size_t>(word * rows + i)] = {value.real(), value.imag()};
    else
      words[static_cast<std::size_t>(word * rows + i)] = value;
  };
  for (std::int32_t i = 0; i < rows; ++i)
    for (int k = -1; k <= 1; ++k)
      if (i < n && i + k >= 0 && i + k < n) set(k + 1, i, A.band(k).host()[static_cast<std::size_t>(i)]);
  for (std::int32_t i = 0; i < n; ++i) set(3, i, b[static_cast<std::size_t>(i)]);
  if (rows > n) set(1, n, T(1));
  auto solved = solve_divided<method, true>(words, rows, chunk);
  solved.x.resize(static_cast<std::size_t>(n));
  return solved;
}

template <class T, class Use>
void for_methods(Use&& use) {
  use.template operator()<BandedMethod::thomas>();
  use.template operator()<BandedMethod::lu>();
  use.template operator()<BandedMethod::qr>();
}

template <class T>
std::vector<T> plain(const std::vector<kernel_t<T>>& x) {
  const auto* const first = reinterpret_cast<const T*>(x.data());
  return {first, first + x.size()};
}

template <class T>
class DividedSystems : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DividedSystems, Scalars);

TYPED_TEST(DividedSystems, have_a_small_backward_error) {
  using T = TypeParam;
  double worst = 0;
  for_methods<T>([&]<BandedMethod method>() {
    for (std::int32_t rows = 1; rows <= 300; rows += rows < 70 ? 1 : 23)
      for (const std::int32_t chunk : {2, 4, 6, 8, 16, 32})
        for (const Kind kind : {Kind::dominant, Kind::random, Kind::zero_diagonal, Kind::tiny_diagonal}) {
          if (method == BandedMethod::thomas && kind != Kind::dominant) continue;
          const BandLayout l = BandLayout::single(rows);
          const auto A = random_banded<T>(static_cast<std::uint64_t>(rows), l, 3, kind);
          const auto b = random_rhs<T>(9, l, T(0));
          const auto solved = solve_divided<method, T>(A, b, chunk);
          ASSERT_EQ(solved.zero_row, no_row);
          const auto x = plain<T>(solved.x);
          const double error = backward_error<T>(A, b, x);
          worst = std::max(worst, error);
          ASSERT_LE(error, backward_bound<T>())
              << rows << " rows, chunks of " << chunk << ", method "
              << banded_method_names[static_cast<std::size_t>(method)] << ", kind " << static_cast<int>(kind);
        }
  });
  this->RecordProperty("worst", std::to_string(worst));
}

/// Column and row are empty: whatever its place in a chunk, it is named.
TYPED_TEST(DividedSystems, name_the_row_without_pivot) {
  using T = TypeParam;
  const std::int32_t rows = 41;
  for_methods<T>([&]<BandedMethod method>() {
    for (const std::int32_t chunk : {2, 4, 6, 16, 64})
      for (std::int32_t empty = 0; empty < rows; ++empty) {
        auto A = random_banded<T>(3, BandLayout::single(rows), 3, Kind::dominant);
        for (int k = -1; k <= 1; ++k) {
          A.band(k).edit()[static_cast<std::size_t>(empty)] = T(0);
          if (empty - k >= 0 && empty - k < rows) A.band(k).edit()[static_cast<std::size_t>(empty - k)] = T(0);
        }
        const auto b = random_rhs<T>(9, A.layout(), T(0));
        ASSERT_EQ((solve_divided<method, T>(A, b, chunk).zero_row), empty) << "chunks of " << chunk;
      }
  });
}

TEST(BandPartition, has_levels_that_fit_into_each_other) {
  for (const std::size_t bytes : {4u, 8u, 16u})
    for (const std::int32_t rows : {1, 2, 3, 17, 128, 4097, 1 << 24, std::numeric_limits<std::int32_t>::max()})
      for (const BandLayout& l : {BandLayout::single(rows), BandLayout::interleaved(rows, 64)}) {
        const detail::BandPartition p = detail::make_partition(l, bytes);
        ASSERT_LT(p.depth, p.total);
        for (int i = 0; i < p.total; ++i) {
          const auto& level = p.levels[static_cast<std::size_t>(i)];
          EXPECT_EQ(level.chunk % 2, 0);
          EXPECT_EQ(level.rows, i == 0 ? rows : 2 * p.levels[static_cast<std::size_t>(i) - 1].chunks());
        }
        EXPECT_EQ(p.levels[static_cast<std::size_t>(p.total) - 1].chunks(), 1);
        EXPECT_EQ(p.given_row(0, rows - 1), rows - 1);
        for (int i = 1; i < p.total; ++i) {
          EXPECT_EQ(p.given_row(i, 0), 0);
          EXPECT_EQ(p.given_row(i, p.levels[static_cast<std::size_t>(i)].rows - 1), rows - 1);
        }
      }
}

}  // namespace
}  // namespace krill::test
