// Systems divided into chunks, chunk after chunk by one thread: the same functions as on CUDA.
#include "sparse/banded/partition.hpp"

#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using detail::ChunkEnds, detail::ChunkOf, detail::ChunkRows, detail::Equation, detail::no_row;

/// Words of rows as kernels keep them, and the first row whose unknown has no pivot.
template <class T>
struct Divided {
  std::vector<T> x;
  std::int32_t zero_row = no_row;
};

/// Of so many rows that the last chunk has at least 2 half.
template <BandedMethod method, int half, ChunkOf kind, class T>
Divided<T> solve_divided(std::vector<T> words, std::int32_t rows, std::int32_t chunk) {
  constexpr int group = 2 * half;
  using Rows = ChunkRows<T, half, kind>;
  const auto at = [&](std::int32_t row) { return Rows{words.data() + row, rows, 1}; };
  const detail::BandLevel level{rows, chunk};
  const std::int32_t left_rows = group * level.chunks();
  Divided<T> result;
  std::vector<T> left(static_cast<std::size_t>((4 * half + 1) * left_rows));
  std::vector<T> known(static_cast<std::size_t>(left_rows));
  for (std::int32_t c = 0; c < level.chunks(); ++c) {
    Equation<T, 4 * half> row[group];
    std::int32_t zero_row = no_row;
    detail::reduce_chunk<method>(at(c * chunk), level.rows_of(c, half), row, zero_row);
    if (zero_row != no_row) result.zero_row = std::min(result.zero_row, c * chunk + zero_row);
    const ChunkRows<T, half, ChunkOf::groups> to{left.data() + c * group, left_rows, 1};
    for (int r = 0; r < group; ++r) {
      for (int w = 0; w < 4 * half; ++w) to.at(w, r) = row[r].entry[w];
      to.at(4 * half, r) = row[r].rhs;
    }
    if (level.chunks() > 1) continue;
    T x[group];
    if (const int first = detail::solve_group<method>(row, x); first < group)
      result.zero_row = std::min(result.zero_row, first < half ? first : rows - group + first);
    std::copy(x, x + group, known.begin());
  }
  if (level.chunks() > 1) {
    const auto solved = solve_divided<method, half, ChunkOf::groups>(left, left_rows, 2 * group);
    known = solved.x;
    if (solved.zero_row != no_row) {
      const std::int32_t c = solved.zero_row / group, r = solved.zero_row % group;
      const std::int32_t place = r < half ? r : level.rows_of(c, half) - group + r;
      result.zero_row = std::min(result.zero_row, c * chunk + place);
    }
  }
  const auto unknown = [&](std::int32_t i) {
    return i < 0 || i >= left_rows ? T(0) : known[static_cast<std::size_t>(i)];
  };
  for (std::int32_t c = 0; c < level.chunks(); ++c) {
    ChunkEnds<T, half> ends;
    for (int k = 0; k < half; ++k) {
      ends.before[k] = unknown(c * group - half + k), ends.first[k] = unknown(c * group + k);
      ends.last[k] = unknown(c * group + half + k), ends.after[k] = unknown((c + 1) * group + k);
    }
    detail::substitute_chunk<method>(at(c * chunk), level.rows_of(c, half), ends);
  }
  const auto first_x = words.begin() + std::int64_t{Rows::x_word} * rows;
  result.x.assign(first_x, first_x + rows);
  return result;
}

/// One system, with rows x = 0 behind it where its last chunk has too few.
template <BandedMethod method, int half, class T>
Divided<kernel_t<T>> solve_divided(const Banded<T>& A, std::span<const T> b, std::int32_t chunk) {
  using K = kernel_t<T>;
  const std::int32_t n = A.layout().rows, rows = detail::BandLevel{n, chunk}.padded_rows(half);
  constexpr int diagonals = 2 * half + 1;
  std::vector<K> words(static_cast<std::size_t>((diagonals + 1) * rows));
  const auto set = [&](int word, std::int32_t i, T value) {
    if constexpr (is_complex<T>)
      words[static_cast<std::size_t>(word * rows + i)] = {value.real(), value.imag()};
    else
      words[static_cast<std::size_t>(word * rows + i)] = value;
  };
  for (std::int32_t i = 0; i < n; ++i)
    for (int k = -half; k <= half; ++k)
      if (i + k >= 0 && i + k < n) set(k + half, i, A.band(k).host()[static_cast<std::size_t>(i)]);
  for (std::int32_t i = 0; i < n; ++i) set(diagonals, i, b[static_cast<std::size_t>(i)]);
  for (std::int32_t i = n; i < rows; ++i) set(half, i, T(1));
  auto solved = solve_divided<method, half, ChunkOf::bands>(words, rows, chunk);
  solved.x.resize(static_cast<std::size_t>(n));
  return solved;
}

template <class Use>
void for_methods(Use&& use) {
  const auto with = [&]<int half>(std::integral_constant<int, half>) {
    use.template operator()<BandedMethod::thomas, half>();
    use.template operator()<BandedMethod::lu, half>();
    use.template operator()<BandedMethod::qr, half>();
  };
  with(std::integral_constant<int, 1>());
  with(std::integral_constant<int, 2>());
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
  for_methods([&]<BandedMethod method, int half>() {
    for (std::int32_t rows = 1; rows <= 300; rows += rows < 70 ? 1 : 23)
      for (const std::int32_t chunk : {4, 6, 7 + half % 2, 16, 32})
        for (const Kind kind : {Kind::dominant, Kind::random, Kind::zero_diagonal, Kind::tiny_diagonal}) {
          if (method == BandedMethod::thomas && kind != Kind::dominant) continue;
          const BandLayout l = BandLayout::single(rows);
          const auto A = random_banded<T>(static_cast<std::uint64_t>(rows), l, 2 * half + 1, kind);
          const auto b = random_rhs<T>(9, l, T(0));
          const auto solved = solve_divided<method, half, T>(A, b, chunk);
          ASSERT_EQ(solved.zero_row, no_row);
          const auto x = plain<T>(solved.x);
          const double error = backward_error<T>(A, b, x);
          worst = std::max(worst, error);
          ASSERT_LE(error, backward_bound<T>())
              << rows << " rows, " << 2 * half + 1 << " diagonals, chunks of " << chunk << ", method "
              << banded_method_names[static_cast<std::size_t>(method)] << ", kind " << static_cast<int>(kind);
        }
  });
  this->RecordProperty("worst", std::to_string(worst));
}

/// Column and row are empty: whatever its place in a chunk, it is named.
TYPED_TEST(DividedSystems, name_the_row_without_pivot) {
  using T = TypeParam;
  const std::int32_t rows = 41;
  for_methods([&]<BandedMethod method, int half>() {
    for (const std::int32_t chunk : {4, 6, 7 + half % 2, 16, 64})
      for (std::int32_t empty = 0; empty < rows; ++empty) {
        auto A = random_banded<T>(3, BandLayout::single(rows), 2 * half + 1, Kind::dominant);
        for (int k = -half; k <= half; ++k) {
          A.band(k).edit()[static_cast<std::size_t>(empty)] = T(0);
          if (empty - k >= 0 && empty - k < rows) A.band(k).edit()[static_cast<std::size_t>(empty - k)] = T(0);
        }
        const auto b = random_rhs<T>(9, A.layout(), T(0));
        ASSERT_EQ((solve_divided<method, half, T>(A, b, chunk).zero_row), empty) << "chunks of " << chunk;
      }
  });
}

TEST(BandPartition, has_levels_that_fit_into_each_other) {
  for (const int diagonals : {3, 5})
    for (const std::size_t bytes : {4u, 8u, 16u})
      for (const std::int32_t rows : {1, 2, 3, 17, 128, 4097, 1 << 24, std::numeric_limits<std::int32_t>::max() - 8})
        for (const BandLayout& l : {BandLayout::single(rows), BandLayout::interleaved(rows, 64)}) {
          const detail::BandPartition p = detail::make_partition(l, diagonals, bytes);
          ASSERT_LT(p.depth, p.total);
          ASSERT_LE(p.total, detail::BandPartition::max_levels);
          for (int i = 0; i < p.total; ++i) {
            const auto& level = p.levels[static_cast<std::size_t>(i)];
            EXPECT_EQ(level.chunk % (2 * p.half), 0);
            EXPECT_EQ(level.rows, i == 0 ? rows : 2 * p.half * p.levels[static_cast<std::size_t>(i) - 1].chunks());
          }
          EXPECT_EQ(p.levels[static_cast<std::size_t>(p.total) - 1].chunks(), 1);
          EXPECT_EQ(p.given_row(0, rows - 1), rows - 1);
          for (int i = 1; i < p.total; ++i) {
            EXPECT_EQ(p.given_row(i, 0), 0);
            EXPECT_EQ(p.given_row(i, p.levels[static_cast<std::size_t>(i)].rows - 1),
                      p.levels[0].padded_rows(p.half) - 1);
          }
        }
}

}  // namespace
}  // namespace krill::test
