// Transpositions of matrices so large that CUDA does them by buckets, and of such that it cannot.
#include <algorithm>
#include <numeric>

#include "sparse/convert/convert.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

/// Columns as they are stored: in any order, some of them several times in a row.
struct Pattern {
  std::string name;
  std::int32_t cols;
  std::vector<std::int64_t> row_offsets{0};
  std::vector<std::int32_t> col_indices{};

  void put(std::int64_t col) { col_indices.push_back(static_cast<std::int32_t>(col)); }
  void end_row() { row_offsets.push_back(std::ssize(col_indices)); }
  std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets.size() - 1); }
  std::int64_t nnz() const { return std::ssize(col_indices); }
};

/// Rows without entries in long stretches, one of 300,000, columns in no order and several times in a row; columns of
/// no entries, of some ten, of 60 to some thousands, of more than any bucket holds.
Pattern nasty_pattern() {
  Pattern p{"nasty", 50'000};
  std::mt19937_64 engine(401);
  const auto below = [&](double n) { return static_cast<std::int64_t>(n * std::uniform_real_distribution()(engine)); };
  for (std::int32_t i = 0; i < 80'000; ++i, p.end_row()) {
    if (i == 9'000)
      for (int k = 0; k < 300'000; ++k) p.put(below(p.cols));
    if ((i > 20'000 && i < 40'000) || i % 7 == 3) continue;
    const std::int64_t first = p.nnz(), length = below(24);
    for (std::int64_t k = 0; k < length; ++k) {
      const double part = std::uniform_real_distribution()(engine), root = std::uniform_real_distribution()(engine);
      if (part < 0.05)
        p.put(16'667);
      else if (part < 0.1)
        p.put(40'000 + below(8));
      else if (part < 0.2)
        p.put(512 * static_cast<std::int64_t>(root * root * 97));
      else if (part < 0.3)
        p.put(7 + 64 * below(700));
      else if (part < 0.4 && p.nnz() > first)
        p.put(p.col_indices[static_cast<std::size_t>(first + below(static_cast<double>(p.nnz() - first)))]);
      else
        p.put(below(p.cols - 5'000));
    }
  }
  return p;
}

Pattern grid_pattern() {
  constexpr std::int32_t n = 340;
  Pattern p{"five points a row", n * n};
  for (std::int32_t i = 0; i < p.cols; ++i, p.end_row())
    for (const std::int32_t step : {-n, -1, 0, 1, n})
      if (i + step >= 0 && i + step < p.cols) p.put(i + step);
  return p;
}

Pattern power_law_pattern() {
  Pattern p{"power law", 90'000};
  std::mt19937_64 engine(402);
  std::uniform_real_distribution<double> uniform;
  for (std::int32_t i = 0; i < 90'000; ++i, p.end_row())
    for (int k = 0; k < 8; ++k) {
      const double u = uniform(engine);
      p.put(static_cast<std::int64_t>(p.cols * u * u * u) * 7'919 % p.cols);
    }
  return p;
}

Pattern random_pattern(std::string name, std::int32_t rows, std::int32_t cols, int length) {
  Pattern p{std::move(name), cols};
  std::mt19937_64 engine(403);
  for (std::int32_t i = 0; i < rows; ++i, p.end_row())
    for (int k = 0; k < length; ++k) p.put(static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(cols)));
  return p;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{nasty_pattern(),
                                        grid_pattern(),
                                        power_law_pattern(),
                                        random_pattern("random", 60'000, 70'000, 11),
                                        random_pattern("one column", 300'000, 1, 2),
                                        random_pattern("four columns", 300'000, 4, 2),
                                        random_pattern("columns of 2,500", 40'000, 250, 16),
                                        random_pattern("columns mostly empty", 60'000, 1'900'000, 10),
                                        random_pattern("hardly any columns", 100, 3'000'000, 6'000)};
  return all;
}

/// The transpose of a pattern: entry k of it is entry order[k].
struct Transposed {
  std::vector<std::int64_t> row_offsets, order;
  std::vector<std::int32_t> col_indices;

  explicit Transposed(const Pattern& p)
      : row_offsets(static_cast<std::size_t>(p.cols) + 1), order(p.col_indices.size()), col_indices(order.size()) {
    for (const std::int32_t col : p.col_indices) ++row_offsets[static_cast<std::size_t>(col) + 1];
    std::partial_sum(row_offsets.begin(), row_offsets.end(), row_offsets.begin());
    std::vector<std::int64_t> next = row_offsets;
    for (std::size_t i = 0; i + 1 < p.row_offsets.size(); ++i)
      for (std::int64_t k = p.row_offsets[i]; k < p.row_offsets[i + 1]; ++k) {
        const auto col = static_cast<std::size_t>(p.col_indices[static_cast<std::size_t>(k)]);
        const auto to = static_cast<std::size_t>(next[col]++);
        col_indices[to] = static_cast<std::int32_t>(i);
        order[to] = k;
      }
  }
};

/// A value that tells where it came from.
template <class T>
T value_of(std::int64_t k) {
  const auto re = static_cast<real_t<T>>(k + 1);
  if constexpr (is_complex<T>)
    return {re, -2 * re};
  else
    return re;
}

struct How {
  IndexBase base = IndexBase::zero;
  bool conjugate = false;
  bool with_values = true;
  bool with_permutation = false;
  bool asynchronous = false;
  std::int64_t tail = 0;
};

/// A matrix and its transpose, made by the kernel behind the doors.
template <class T, class Offset>
struct Transposition {
  How how;
  std::int32_t rows, cols;
  std::int64_t nnz;
  Array<Offset> row_offsets, out_row_offsets, permutation;
  Array<std::int32_t> col_indices, out_col_indices;
  Array<T> values, out_values;

  Transposition(const Pattern& p, const How& with)
      : how(with),
        rows(p.rows()),
        cols(p.cols),
        nnz(p.nnz() + with.tail),
        row_offsets(0),
        out_row_offsets(std::vector<Offset>(static_cast<std::size_t>(p.cols) + 1, -1)),
        permutation(std::vector<Offset>(static_cast<std::size_t>(nnz), -1)),
        col_indices(0),
        out_col_indices(std::vector<std::int32_t>(static_cast<std::size_t>(nnz), -1)),
        values(0),
        out_values(std::vector<T>(static_cast<std::size_t>(nnz), T(-1))) {
    const auto base = static_cast<std::int32_t>(how.base);
    std::vector<Offset> offsets;
    for (const std::int64_t offset : p.row_offsets) offsets.push_back(static_cast<Offset>(offset + base));
    std::vector<std::int32_t> columns;
    for (const std::int32_t col : p.col_indices) columns.push_back(col + base);
    columns.resize(static_cast<std::size_t>(nnz), cols + base);
    std::vector<T> numbers;
    for (std::int64_t k = 0; k < nnz; ++k) numbers.push_back(value_of<T>(k));
    row_offsets = Array(std::move(offsets));
    col_indices = Array(std::move(columns));
    values = Array(std::move(numbers));
  }

  void run(Context& ctx) {
    ctx.dispatch([&](const auto& where) {
      using K = kernel_t<T>;
      const K* in = how.with_values ? values.read(where) : nullptr;
      K* out = how.with_values ? out_values.write(where) : nullptr;
      csr_transpose<K, Offset>(where, {rows, cols, nnz, row_offsets.read(where), col_indices.read(where), in, how.base},
                               how.conjugate,
                               {cols, rows, nnz, out_row_offsets.write(where), out_col_indices.write(where), out},
                               how.with_permutation ? permutation.write(where) : nullptr, how.asynchronous);
    });
  }

  void expect(const Transposed& expected, const std::string& what) const {
    ASSERT_TRUE(std::ranges::equal(out_row_offsets.host(), expected.row_offsets)) << what;
    const std::size_t entries = expected.order.size();
    ASSERT_TRUE(std::ranges::equal(out_col_indices.host().first(entries), expected.col_indices)) << what;
    if (how.with_permutation) {
      ASSERT_TRUE(std::ranges::equal(permutation.host().first(entries), expected.order)) << what;
    }
    if (!how.with_values) return;
    for (std::size_t k = 0; k < entries; ++k) {
      T value = value_of<T>(expected.order[k]);
      if constexpr (is_complex<T>)
        if (how.conjugate) value = std::conj(value);
      ASSERT_EQ(out_values.host()[k], value) << what << ", entry " << k;
    }
  }
};

template <class T, class Offset>
void expect_transposed(Context& ctx, const Pattern& pattern, const Transposed& expected, const How& how) {
  Transposition<T, Offset> a(pattern, how);
  a.run(ctx);
  a.expect(expected, pattern.name);
}

using Transpose = OnBackendAndScalar;

TEST_P(Transpose, trap_16_of_large_matrices_is_sorted_and_the_same_in_every_run) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Pattern& pattern : patterns()) {
      const Transposed expected(pattern);
      for (const How& how : {How{}, How{}, How{.conjugate = true, .with_permutation = true}, How{.conjugate = true}})
        expect_transposed<T, std::int32_t>(ctx, pattern, expected, how);
    }
  });
}

TEST_P(Transpose, of_large_matrices_with_64_bit_offsets_that_count_from_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Pattern& pattern : patterns()) {
      const Transposed expected(pattern);
      expect_transposed<T, std::int64_t>(ctx, pattern, expected, {.base = IndexBase::one, .conjugate = true});
      expect_transposed<T, std::int64_t>(ctx, pattern, expected, {.base = IndexBase::one, .with_permutation = true});
    }
  });
}

TEST_P(Transpose, without_a_wait_takes_a_tail) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Pattern& pattern = patterns().front();
    Transposition<T, std::int32_t> a(pattern, {.asynchronous = true, .tail = 1'000});
    a.run(ctx);
    const Counters before = counters();
    a.run(ctx);
    EXPECT_EQ(counters(), before);
    a.expect(Transposed(pattern), pattern.name);
  });
}

using TransposeOnce = OnBackend;

TEST_P(TransposeOnce, of_large_patterns_gives_places_or_nothing) {
  Context ctx = context();
  for (const Pattern& pattern : patterns()) {
    const Transposed expected(pattern);
    for (const IndexBase base : {IndexBase::zero, IndexBase::one})
      for (const bool with_permutation : {false, true}) {
        const How how{.base = base, .with_values = false, .with_permutation = with_permutation};
        expect_transposed<float, std::int32_t>(ctx, pattern, expected, how);
        expect_transposed<float, std::int64_t>(ctx, pattern, expected, how);
      }
  }
}

/// Entries of a row are told apart by their place in it, in as many bits as a column's number leaves.
TEST_P(TransposeOnce, of_a_row_of_two_million_entries) {
  Context ctx = context();
  Pattern pattern = random_pattern("a very long row", 1, 3'000'000, (1 << 21) + 5);
  pattern.put(5);
  pattern.end_row();
  expect_transposed<double, std::int32_t>(ctx, pattern, Transposed(pattern), {.with_permutation = true});
}

TEST_P(TransposeOnce, in_a_captured_graph_waits_for_nothing) {
  Context ctx = context();
  const Pattern& pattern = patterns().front();
  Transposition<double, std::int32_t> first(pattern, {.asynchronous = true}), again(pattern, {});
  first.run(ctx);  // the workspace is there
  again.run(ctx);
  replay(ctx, [&] { again.run(ctx); });
  again.expect(Transposed(pattern), pattern.name);
}

TEST_P(TransposeOnce, of_a_large_matrix_is_skipped_on_a_device) {
  Context ctx = context();
  if (!ctx.on_cuda()) GTEST_SKIP() << "the host's is never skipped";
  const Pattern& pattern = patterns().front();
  Transposition<double, std::int32_t> a(pattern, {});
  a.run(ctx);
  a.values = Array<double>(std::vector<double>(static_cast<std::size_t>(a.nnz), -7));
  run_skipped(ctx, [&] { a.run(ctx); });
  a.expect(Transposed(pattern), pattern.name);
}

INSTANTIATE_TEST_SUITE_P(, Transpose, backends_and_scalars, param_name);
INSTANTIATE_TEST_SUITE_P(, TransposeOnce, backends, param_name);

}  // namespace
}  // namespace krill::test
