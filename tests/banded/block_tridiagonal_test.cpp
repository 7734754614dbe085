#include "sparse/banded/block_elimination.hpp"
#include "sparse/banded/block_tridiagonal_plan.hpp"
#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using detail::BlockDivision, detail::BlockLevel, detail::BlockPartition, detail::no_row;
using BlockSolves = OnBackendAndScalar;

/// Where entry (r, c) of block row i of system j lies, and its vectors' entry r.
struct Places {
  const BandLayout& l;
  int size;
  std::size_t entry(std::int64_t i, std::int64_t j, int r, int c) const {
    return static_cast<std::size_t>((l.at(i, j) * size + r) * size + c);
  }
  std::size_t of(std::int64_t i, std::int64_t j, int r) const {
    return static_cast<std::size_t>(l.at(i, j) * size + r);
  }
};

/// How the diagonal blocks are made.
enum class Blocks { dominant, permuted, random };

/// NaN in padding and in blocks outside of the matrix. `dominant` adds 6 size to the diagonal, which is then at least
/// 1.7 size more than the other 3 size - 1 entries of a row, each at most sqrt(2) in modulus. `permuted` has these
/// large entries in the next column of every diagonal block, where only an exchange of rows finds them.
template <class T>
BlockTridiagonal<T> random_blocks(std::uint64_t seed, const BandLayout& l, int size, Blocks kind) {
  BlockTridiagonal<T> A(l, size);
  std::mt19937_64 engine(seed);
  const Places at{l, size};
  for (int k = -1; k <= 1; ++k) {
    const auto band = A.band(k).edit();
    std::fill(band.begin(), band.end(), nan_of<T>());
    for (std::int64_t j = 0; j < l.batch; ++j)
      for (std::int64_t i = 0; i < l.rows; ++i) {
        if (i + k < 0 || i + k >= l.rows) continue;
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < size; ++c) band[at.entry(i, j, r, c)] = random_scalar<T>(engine);
        if (k != 0 || kind == Blocks::random) continue;
        for (int r = 0; r < size; ++r) {
          if (kind == Blocks::permuted) band[at.entry(i, j, r, r)] = T(0);
          band[at.entry(i, j, r, kind == Blocks::permuted ? (r + 1) % size : r)] += number<T>(6 * size);
        }
      }
  }
  return A;
}

template <class T>
Array<T> random_vectors(std::uint64_t seed, const BandLayout& l, int size, T padding) {
  std::vector<T> b(static_cast<std::size_t>(l.extent() * size), padding);
  std::mt19937_64 engine(seed);
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i)
      for (int r = 0; r < size; ++r) b[Places{l, size}.of(i, j, r)] = random_scalar<T>(engine);
  return Array<T>(std::move(b));
}
template <class T>
Array<T> filled(const BandLayout& l, int size, T value) {
  return Array<T>(std::vector<T>(static_cast<std::size_t>(l.extent() * size), value));
}

/// use(column of the system, entry) for row r of block row i of system j.
template <class T, class Use>
void for_row(const BlockTridiagonal<T>& A, std::int64_t i, std::int64_t j, int r, Use&& use) {
  const std::int64_t mine = A.layout().batch == 1 ? 0 : j;
  for (int k = -1; k <= 1; ++k) {
    if (i + k < 0 || i + k >= A.layout().rows) continue;
    const auto band = A.band(k).host();
    for (int c = 0; c < A.size(); ++c)
      use((i + k) * A.size() + c, exact(band[Places{A.layout(), A.size()}.entry(i, mine, r, c)]));
  }
}

/// As backward_error() of bands.
template <class T>
double block_backward_error(const BlockTridiagonal<T>& A, const BandLayout& l, std::span<const T> b,
                            std::span<const T> x) {
  const Places at{l, A.size()};
  long double worst = 0;
  for (std::int64_t j = 0; j < l.batch; ++j) {
    long double residual = 0, of_a = 0, of_x = 0, of_b = 0;
    for (std::int64_t i = 0; i < l.rows; ++i)
      for (int r = 0; r < A.size(); ++r) {
        auto sum = exact(b[at.of(i, j, r)]);
        of_b = std::max(of_b, modulus(sum));
        long double row = 0;
        for_row(A, i, j, r, [&](std::int64_t column, const auto& entry) {
          sum -= entry * exact(x[at.of(column / A.size(), j, static_cast<int>(column % A.size()))]);
          row += modulus(entry);
        });
        of_x = std::max(of_x, modulus(exact(x[at.of(i, j, r)])));
        of_a = std::max(of_a, row);
        if (!(modulus(sum) <= std::numeric_limits<long double>::max())) return std::numeric_limits<double>::infinity();
        residual = std::max(residual, modulus(sum));
      }
    worst = std::max(worst, residual / (of_a * of_x + of_b));
  }
  return static_cast<double>(worst / std::numeric_limits<real_t<T>>::epsilon());
}

/// Units of epsilon, for dominant matrices: |L||U| is then at most three times |A| (Higham 2002, 9.5 and 13.2), and an
/// equation is rounded once for each of the 3 size entries that it meets, in chunks twice; complex numbers with three
/// times the error.
template <class T>
double block_bound(int size) {
  return (is_complex<T> ? 3 : 1) * 3 * 2 * (3 * size + 2);
}

void expect_padding(const auto& x, const BandLayout& l, int size, const auto& kept) {
  std::vector<bool> used(static_cast<std::size_t>(l.extent() * size));
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i)
      for (int r = 0; r < size; ++r) used[Places{l, size}.of(i, j, r)] = true;
  for (std::size_t at = 0; at < used.size(); ++at)
    if (!used[at]) {
      ASSERT_EQ(x.host()[at], kept);
    }
}

TEST_P(BlockSolves, have_a_small_backward_error_and_leave_padding_alone) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T kept = number<T>(777);
    for (int size = 1; size <= largest_tridiagonal_block; ++size) {
      std::vector<std::pair<std::int32_t, std::int32_t>> sizes{{127, 3}, {128, 2}, {129, 1}, {1000, 2}, {5, 300}};
      for (std::int32_t rows = 1; rows <= 70; rows += rows < 12 ? 1 : 7) sizes.emplace_back(rows, 1 + rows % 5);
      for (const auto& [rows, batch] : sizes)
        for (const BandLayout& l : layouts(rows, batch)) {
          BlockTridiagonalPlan<T> plan(ctx, l, size);
          for (const Blocks kind : {Blocks::dominant, Blocks::permuted}) {
            const auto A = random_blocks<T>(static_cast<std::uint64_t>(rows), l, size, kind);
            const Array<T> b = random_vectors<T>(9, l, size, kept);
            Array<T> x = filled<T>(l, size, kept), in_place = b.clone();
            plan.solve(ctx, A, b, x);
            plan.solve(ctx, A, in_place, in_place);
            ASSERT_EQ(plan.singular_block(), std::nullopt);
            ASSERT_LE(block_backward_error(A, l, b.host(), x.host()), block_bound<T>(size))
                << rows << " block rows, batch " << batch << ", blocks of " << size << ", " << static_cast<int>(kind);
            ASSERT_EQ(contents(x), contents(in_place));
            expect_padding(x, l, size, kept);
          }
        }
    }
  });
}

/// So many that CUDA does not divide them.
TEST_P(BlockSolves, of_many_systems_have_a_small_backward_error) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (int size = 1; size <= largest_tridiagonal_block; ++size) {
      const std::int32_t many = ctx.on_cuda() ? 25'000 / size : 50;
      for (const BandLayout& l : {BandLayout::strided(40, many), BandLayout::interleaved(9, many, many + 1)}) {
        const auto A = random_blocks<T>(4, l, size, Blocks::permuted);
        const Array<T> b = random_vectors<T>(9, l, size, T(0));
        Array<T> x(l.extent() * size);
        BlockTridiagonalPlan<T> plan(ctx, l, size);
        plan.solve(ctx, A, b, x);
        ASSERT_EQ(plan.singular_block(), std::nullopt);
        ASSERT_LE(block_backward_error(A, l, b.host(), x.host()), block_bound<T>(size)) << "blocks of " << size;
      }
    }
  });
}

/// By Gaussian elimination of the whole matrix with partial pivoting.
std::vector<Exact> solve_whole(std::vector<std::vector<Exact>> a, std::vector<Exact> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]), std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Exact factor = a[i][k] / a[k][k];
      for (std::size_t c = k; c < n; ++c) a[i][c] -= factor * a[k][c];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = i + 1; c < n; ++c) b[i] -= a[i][c] * b[c];
    b[i] /= a[i][i];
  }
  return b;
}

/// Rows of a dominant matrix have at least 1.7 size more on the diagonal than beside it, and at most (6 + 3 sqrt 2)
/// size in all, so its condition is below 7.
TEST_P(BlockSolves, agree_with_dense_elimination_in_long_double) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (int size = 1; size <= largest_tridiagonal_block; ++size)
      for (const std::int32_t rows : {1, 2, 3, 7, 20, 41}) {
        const BandLayout l = BandLayout::interleaved(rows, 2);
        const auto A = random_blocks<T>(31, l, size, Blocks::dominant);
        const Array<T> b = random_vectors<T>(32, l, size, T(0));
        Array<T> x(l.extent() * size);
        BlockTridiagonalPlan<T>(ctx, l, size).solve(ctx, A, b, x);
        for (std::int64_t j = 0; j < l.batch; ++j) {
          const auto n = static_cast<std::size_t>(rows * size);
          std::vector<std::vector<Exact>> a(n, std::vector<Exact>(n));
          std::vector<Exact> rhs(n);
          for (std::size_t row = 0; row < n; ++row) {
            const auto i = static_cast<std::int64_t>(row) / size;
            const int r = static_cast<int>(row) % size;
            rhs[row] = exact(b.host()[Places{l, size}.of(i, j, r)]);
            for_row(A, i, j, r, [&](std::int64_t c, Exact entry) { a[row][static_cast<std::size_t>(c)] = entry; });
          }
          const auto expected = solve_whole(a, rhs);
          long double most = 0;
          for (const Exact& one : expected) most = std::max(most, std::abs(one));
          for (std::size_t row = 0; row < n; ++row)
            ASSERT_LE(std::abs(exact(x.host()[Places{l, size}.of(static_cast<std::int64_t>(row) / size, j,
                                                                 static_cast<int>(row) % size)]) -
                               expected[row]),
                      2 * 7 * block_bound<T>(size) * std::numeric_limits<real_t<T>>::epsilon() * most);
        }
      }
  });
}

/// A single block row is a dense system, which Gaussian elimination with partial pivoting solves whatever is in it.
TEST_P(BlockSolves, pivot_inside_of_random_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (int size = 1; size <= largest_tridiagonal_block; ++size) {
      const BandLayout l = BandLayout::strided(1, 300);
      const auto A = random_blocks<T>(77, l, size, Blocks::random);
      const Array<T> b = random_vectors<T>(78, l, size, T(0));
      Array<T> x(l.extent() * size);
      BlockTridiagonalPlan<T> plan(ctx, l, size);
      plan.solve(ctx, A, b, x);
      ASSERT_EQ(plan.singular_block(), std::nullopt);
      ASSERT_LE(block_backward_error(A, l, b.host(), x.host()), block_bound<T>(size)) << "blocks of " << size;
    }
  });
}

/// One system with NaN, two with a block row and column of zeros, the others as they are without them.
TEST_P(BlockSolves, keep_systems_apart_and_name_singular_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (int size = 1; size <= largest_tridiagonal_block; ++size)
      for (const std::int32_t rows : {20, 50, 700})
        for (const BandLayout& l : {BandLayout::strided(rows, 12), BandLayout::interleaved(rows, 12, 14)})
          for (const std::int32_t empty : {7, 16}) {  // of chunks of eight, the last row and the first
            const Places at{l, size};
            const auto A = random_blocks<T>(5, l, size, Blocks::dominant);
            auto spoilt = random_blocks<T>(5, l, size, Blocks::dominant);
            spoilt.band(0).edit()[at.entry(3, 2, 0, size - 1)] = nan_of<T>();
            for (int k = -1; k <= 1; ++k)
              for (const std::int64_t j : {4, 9}) {
                const auto band = spoilt.band(k).edit();
                for (int r = 0; r < size; ++r)
                  for (int c = 0; c < size; ++c)
                    band[at.entry(empty, j, r, c)] = band[at.entry(empty - k, j, r, c)] = T(0);
              }
            const Array<T> b = random_vectors<T>(6, l, size, T(0));
            Array<T> x(l.extent() * size), other(l.extent() * size);
            BlockTridiagonalPlan<T> plan(ctx, l, size);
            plan.solve(ctx, spoilt, b, other);
            ASSERT_EQ(plan.singular_block(9), empty);
            ASSERT_EQ(plan.singular_block(2), std::nullopt);
            ASSERT_EQ(plan.singular_block(), (SingularBlock{4, empty}));
            plan.solve(ctx, A, b, x);
            ASSERT_EQ(plan.singular_block(), std::nullopt);
            for (std::int64_t j = 0; j < l.batch; ++j)
              for (std::int64_t i = 0; i < rows && j != 2 && j != 4 && j != 9; ++i)
                for (int r = 0; r < size; ++r)
                  ASSERT_EQ(x.host()[at.of(i, j, r)], other.host()[at.of(i, j, r)]) << "system " << j;
          }
  });
}

TEST_P(BlockSolves, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int size : {1, 3, 8})
      for (const BandLayout& l : {BandLayout::single(1000), BandLayout::interleaved(20, 60)}) {
        const auto A = random_blocks<T>(4, l, size, Blocks::permuted);
        const Array<T> b = random_vectors<T>(9, l, size, T(0)), zeros = filled<T>(l, size, T(0));
        Array<T> x(l.extent() * size), once(l.extent() * size);
        BlockTridiagonalPlan<T> plan(ctx, l, size);
        plan.solve(ctx, A, b, once);
        replay(ctx, [&] { plan.solve(ctx, A, b, x); });
        EXPECT_EQ(contents(x), contents(once));
        run_skipped(ctx, [&] { plan.solve(ctx, A, zeros, x); });
        EXPECT_EQ(contents(x), contents(once));
      }
  });
}

TEST_P(BlockSolves, with_one_matrix_take_many_right_hand_sides) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int size : {1, 2, 5, 8})
      for (const std::int32_t rows : {1, 9, 100})
        for (const BandLayout& vectors : layouts(rows, 7)) {
          const BandLayout single = BandLayout::single(rows);
          const auto A = random_blocks<T>(4, single, size, Blocks::dominant);
          const Array<T> b = random_vectors<T>(5, vectors, size, T(0));
          Array<T> x = filled<T>(vectors, size, T(0));
          BlockTridiagonalPlan<T>(ctx, single, vectors, size).solve(ctx, A, b, x);
          ASSERT_LE(block_backward_error(A, vectors, b.host(), x.host()), block_bound<T>(size));
        }
  });
}

TEST_P(BlockSolves, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto refused = [&](const BandLayout& l, int size) {
      return complaint<InvalidArgument>([&] { BlockTridiagonalPlan<T>(ctx, l, size); });
    };
    EXPECT_EQ(refused(BandLayout::single(4), 0), "block tridiagonal plan: size of blocks is 0, 1 to 8 were expected");
    EXPECT_EQ(refused(BandLayout::single(4), 9), "block tridiagonal plan: size of blocks is 9, 1 to 8 were expected");
    EXPECT_EQ(refused(BandLayout::strided(-1, 2, 1), 2), "block tridiagonal plan: -1 rows, at least 1 is needed");
    EXPECT_EQ(refused(BandLayout::strided(4, -1), 2), "block tridiagonal plan: a batch of -1, at least 1 is needed");
    EXPECT_EQ(refused(BandLayout::strided(4, 2, 3), 2),
              "block tridiagonal plan: systems lie 3 entries apart, at least 4 are needed");
    EXPECT_EQ(refused(BandLayout::interleaved(4, 5, 4), 2),
              "block tridiagonal plan: rows lie 4 entries apart, at least 5 are needed");
    EXPECT_EQ(refused(BandLayout::single(1'500'000'000), 2),
              "block tridiagonal plan: 1500000000 block rows of 2 are more unknowns than 2^31 - 1");
    EXPECT_EQ(refused(BandLayout::strided(4, 2'000'000, std::int64_t{1} << 36), 8),
              "block tridiagonal plan: 4 block rows of 2000000 systems with strides 1 and 68719476736 are more than "
              "memory has");
    EXPECT_EQ(complaint<InvalidArgument>([&] { BlockTridiagonal<T>(BandLayout::single(4), 9); }),
              "block tridiagonal: size of blocks is 9, 1 to 8 were expected");
    EXPECT_THROW(BlockTridiagonal<T>(BandLayout::single(2), 2, Array<T>(8), Array<T>(7), Array<T>(8)), ShapeMismatch);
    const BandLayout five = BandLayout::strided(4, 5);
    EXPECT_EQ(complaint<InvalidArgument>([&] { BlockTridiagonalPlan<T>(ctx, BandLayout::strided(4, 2), five, 3); }),
              "block tridiagonal plan: 5 vectors for 2 matrices; as many are needed, or one matrix");
    EXPECT_EQ(complaint<InvalidArgument>([&] { BlockTridiagonalPlan<T>(ctx, BandLayout::single(3), five, 3); }),
              "block tridiagonal plan: vectors of 4 block rows for matrices of 3");

    BlockTridiagonalPlan<T> plan(ctx, BandLayout::strided(4, 2), 2);
    BlockTridiagonal<T> A(BandLayout::strided(4, 2), 2), square(BandLayout::single(1), 1);
    const Array<T> b(16);
    Array<T> x(16), short_x(15);
    EXPECT_THROW(plan.solve(ctx, A, b, short_x), ShapeMismatch);
    EXPECT_THROW(plan.solve(ctx, A, short_x, x), ShapeMismatch);
    EXPECT_EQ(complaint<InvalidArgument>(
                  [&] { plan.solve(ctx, BlockTridiagonal<T>(BandLayout::interleaved(4, 2), 2), b, x); }),
              "block tridiagonal plan: the matrices have another layout than the plan was made for");
    EXPECT_EQ(
        complaint<InvalidArgument>([&] { plan.solve(ctx, BlockTridiagonal<T>(BandLayout::strided(4, 2), 3), b, x); }),
        "block tridiagonal plan: matrices of blocks of 3, it was made for 2");
    BlockTridiagonalPlan<T> small(ctx, BandLayout::single(1), 1);
    EXPECT_EQ(complaint<InvalidArgument>([&] { small.solve(ctx, square, square.band(1), square.band(0)); }),
              "block tridiagonal plan: x and blocks of the matrix must not be the same array");
    EXPECT_THROW(plan.singular_block(2), InvalidArgument);
    EXPECT_THROW(A.band(2), InvalidArgument);
    EXPECT_THROW(A.to_bsr(2), InvalidArgument);
  });
}

TEST_P(BlockSolves, take_the_memory_that_is_planned) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const BandLayout& l : {BandLayout::single(5000), BandLayout::interleaved(30, 700)}) {
      MemoryLedger ledger(ctx.on_cuda() ? MemoryTarget::cuda(0) : MemoryTarget::host(2));
      const HeldMemory planned = BlockTridiagonalPlan<T>::memory(ledger, l, 5);
      const std::size_t taken = BlockTridiagonalPlan<T>(ctx, l, 5).bytes();
      EXPECT_GE(planned.bytes(), taken);
      EXPECT_LE(planned.bytes(), taken + 1024);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, BlockSolves, backends_and_scalars, param_name);

/// Systems divided into chunks, level after level by one thread: the same functions as on CUDA.
template <int size, class T>
struct DividedBlocks {
  std::vector<T> x;
  std::vector<std::int32_t> zero_rows;

  DividedBlocks(const BlockTridiagonal<T>& A, const Array<T>& b, std::int32_t chunk)
      : zero_rows(static_cast<std::size_t>(A.layout().batch), no_row) {
    using K = kernel_t<T>;
    BlockPartition p;
    std::int32_t rows = A.layout().rows;
    for (; rows > 1; ++p.last) {
      BlockDivision& level = p.levels[static_cast<std::size_t>(p.last)];
      level = {rows, chunk};
      rows = level.chunks();
    }
    p.levels[static_cast<std::size_t>(p.last)] = {rows, rows};
    const std::int32_t batch = A.layout().batch;
    Array<T> work(detail::block_workspace(p, batch, size)), made(b.size());
    const auto levels =
        detail::block_levels(p, detail::BlockSolve<K>{A.view(Host{}), A.layout(), b.read(Host{}), made.write(Host{}),
                                                      work.write(Host{}), zero_rows.data()});
    const detail::OneThread<size> team;
    const auto note = [&](int level, std::int32_t j, std::int32_t row) {
      std::int32_t& first = zero_rows[static_cast<std::size_t>(j)];
      if (row != no_row) first = std::min(first, p.given_row(level, row));
    };
    const auto for_chunks = [&](const BlockLevel<K>& l, auto&& use) {
      for (std::int32_t j = 0; j < batch; ++j)
        for (std::int32_t c = 0; c < l.division.chunks(); ++c) use(j, c);
    };
    for (int n = 0; n < p.last; ++n) {
      const BlockLevel<K>& l = levels[static_cast<std::size_t>(n)];
      for_chunks(l, [&](std::int32_t j, std::int32_t c) { note(n, j, detail::eliminate_blocks<true>(team, l, j, c)); });
    }
    const BlockLevel<K>& whole = levels[static_cast<std::size_t>(p.last)];
    for (std::int32_t j = 0; j < batch; ++j) {
      note(p.last, j, detail::eliminate_blocks<false>(team, whole, j, 0));
      detail::substitute_blocks<false>(team, whole, j, 0);
    }
    for (int n = p.last - 1; n >= 0; --n) {
      const BlockLevel<K>& l = levels[static_cast<std::size_t>(n)];
      for_chunks(l, [&](std::int32_t j, std::int32_t c) { detail::substitute_blocks<true>(team, l, j, c); });
    }
    x = contents(made);
  }
};

template <class T>
class DividedBlockSystems : public ::testing::Test {};
using BlockScalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DividedBlockSystems, BlockScalars);

TYPED_TEST(DividedBlockSystems, have_a_small_backward_error) {
  using T = TypeParam;
  detail::for_constants<largest_tridiagonal_block>([](auto k) {
    constexpr int size = k + 1;
    for (const std::int32_t chunk : {2, 3, 8})
      for (std::int32_t rows = 1; rows <= 130; rows += rows < 20 ? 1 : 11)
        for (const BandLayout& l : {BandLayout::strided(rows, 2, rows + 1), BandLayout::interleaved(rows, 3)}) {
          const auto A = random_blocks<T>(static_cast<std::uint64_t>(rows), l, size, Blocks::permuted);
          const Array<T> b = random_vectors<T>(9, l, size, T(0));
          const DividedBlocks<size, T> solved(A, b, chunk);
          ASSERT_LE((block_backward_error<T>(A, l, b.host(), solved.x)), block_bound<T>(size))
              << rows << " block rows of " << size << " in chunks of " << chunk;
          ASSERT_EQ(solved.zero_rows, std::vector<std::int32_t>(static_cast<std::size_t>(l.batch), no_row));
        }
  });
}

/// Whichever row it is, a block row and column of zeros is named, and the other systems stay as they are.
TYPED_TEST(DividedBlockSystems, name_singular_blocks) {
  using T = TypeParam;
  detail::for_constants<3>([](auto k) {
    constexpr int size = 1 + 3 * k;
    const BandLayout l = BandLayout::strided(30, 2);
    const Places at{l, size};
    const Array<T> b = random_vectors<T>(9, l, size, T(0));
    const DividedBlocks<size, T> expected(random_blocks<T>(5, l, size, Blocks::dominant), b, 4);
    for (std::int32_t empty = 0; empty < l.rows; ++empty) {
      auto A = random_blocks<T>(5, l, size, Blocks::dominant);
      for (int side = -1; side <= 1; ++side) {
        const auto band = A.band(side).edit();
        for (int e = 0; e < size * size; ++e) {
          if (empty + side >= 0 && empty + side < l.rows) band[at.entry(empty, 1, 0, e)] = T(0);
          if (empty - side >= 0 && empty - side < l.rows) band[at.entry(empty - side, 1, 0, e)] = T(0);
        }
      }
      const DividedBlocks<size, T> solved(A, b, 4);
      ASSERT_EQ(solved.zero_rows, (std::vector<std::int32_t>{no_row, empty}));
      for (std::int32_t i = 0; i < l.rows; ++i)
        for (int r = 0; r < size; ++r) ASSERT_EQ(solved.x[at.of(i, 0, r)], expected.x[at.of(i, 0, r)]);
    }
  });
}

/// Every level but the last is divided, by eights at least; what is left over has at most 32 rows.
TEST(BlockPartitions, end_in_few_rows) {
  for (const int size : {1, 3, 8})
    for (const std::int32_t batch : {1, 100, 5'000, 1'000'000})
      for (const std::int32_t rows : {1, 32, 33, 1000, 200'000'000}) {
        const BlockPartition p = detail::make_block_partition(true, rows, batch, size);
        const bool many = std::int64_t{batch} * detail::lanes_of_blocks(size) >= 24'576;
        EXPECT_EQ(p.last > 0, !many && rows > 32);
        EXPECT_EQ(p.levels[0].rows, rows);
        for (int n = 0; n < p.last; ++n) {
          const BlockDivision& level = p.levels[static_cast<std::size_t>(n)];
          EXPECT_GE(level.chunk, 8);
          EXPECT_EQ(p.levels[static_cast<std::size_t>(n) + 1].rows, level.chunks());
          EXPECT_EQ(level.left_over(level.chunks() - 1), level.rows - 1);
        }
        const BlockDivision& last = p.levels[static_cast<std::size_t>(p.last)];
        EXPECT_EQ(last.chunks(), 1);
        if (!many) {
          EXPECT_LE(last.rows, 32);
        }
        EXPECT_EQ(p.given_row(p.last, last.rows - 1), rows - 1);
        EXPECT_EQ(detail::make_block_partition(false, rows, batch, size).last, 0);
      }
}

}  // namespace
}  // namespace krill::test
