// Transposition without values, and of values of any type.
#include "sparse/convert/pattern.hpp"

#include <algorithm>
#include <array>

#include "sparse/convert/convert.hpp"
#include "sparse/core/half.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using PatternTranspose = OnBackend;

template <class Offset>
void expect_pattern(Context& ctx, const Shape& shape) {
  const auto A = random_csr<float, Offset>(1, shape);
  const TransposeIndices<Offset> found = transpose_pattern(ctx, A.cols(), A.row_offsets(), A.col_indices());
  Array<Offset> permutation;
  const auto expected = transpose(ctx, A, Op::transpose, &permutation);
  EXPECT_EQ(contents(found.row_offsets), contents(expected.row_offsets())) << shape.name;
  EXPECT_EQ(contents(found.col_indices), contents(expected.col_indices())) << shape.name;
  EXPECT_EQ(contents(found.permutation), contents(permutation)) << shape.name;
}

/// TYP-ACTION, symbolic.
TEST_P(PatternTranspose, without_values_is_that_of_the_matrix) {
  Context ctx = context();
  for (const Shape& shape : nasty_shapes()) {
    expect_pattern<std::int32_t>(ctx, shape);
    expect_pattern<std::int64_t>(ctx, shape);
  }
  expect_pattern<std::int64_t>(
      ctx, {"by buckets on CUDA", 60'000, 70'000, [](std::int32_t, std::mt19937_64&) { return 10; }});
  EXPECT_THROW(transpose_pattern(ctx, 3, Array<std::int32_t>(0), Array<std::int32_t>(0)), ShapeMismatch);
}

/// A value whose bytes tell where it came from.
template <class V>
V marked(std::int64_t k) {
  std::array<unsigned char, sizeof(V)> bytes;
  for (std::size_t b = 0; b < bytes.size(); ++b)
    bytes[b] = static_cast<unsigned char>(static_cast<std::uint64_t>(k + 1) * (2 * b + 1) >> b);
  return std::bit_cast<V>(bytes);
}

/// By counting, entry by entry: the entries of each column in the order of the rows.
template <class V, class Offset>
void expect_moved(Context& ctx, const Shape& shape) {
  const auto shaped = random_csr<float, Offset>(2, shape);
  std::vector<V> values;
  for (std::int64_t k = 0; k < shaped.nnz(); ++k) values.push_back(marked<V>(k));
  const Csr<V, Offset> A(shaped.cols(), shaped.row_offsets().clone(), shaped.col_indices().clone(), Array<V>(values));
  const Csr<V, Offset> found = transpose_as_bits(ctx, A);
  std::vector<std::vector<std::pair<std::int32_t, std::size_t>>> columns(static_cast<std::size_t>(A.cols()));
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++k)
      columns[static_cast<std::size_t>(A.col_indices().host()[k])].push_back({i, k});
  std::size_t next = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    ASSERT_EQ(static_cast<std::size_t>(found.row_offsets().host()[j]), next);
    for (const auto& [row, k] : columns[j]) {
      ASSERT_EQ(found.col_indices().host()[next], row);
      ASSERT_EQ(std::memcmp(&found.values().host()[next], &values[k], sizeof(V)), 0)
          << shape.name << ", " << sizeof(V) << " bytes, entry " << next;
      ++next;
    }
  }
  EXPECT_EQ(found.nnz(), static_cast<std::int64_t>(next));
}

/// CNV-CSR2CSC: sizes of 1 to 16 bytes, powers of two and others, aligned to their size and to less.
TEST_P(PatternTranspose, moves_values_of_1_to_16_bytes_as_they_are) {
  Context ctx = context();
  for (const Shape& shape : {nasty_shapes()[0], nasty_shapes()[6], nasty_shapes()[8]}) {
    expect_moved<std::int8_t, std::int32_t>(ctx, shape);
    expect_moved<Half, std::int32_t>(ctx, shape);
    expect_moved<std::array<char, 3>, std::int32_t>(ctx, shape);
    expect_moved<Complex<BFloat16>, std::int64_t>(ctx, shape);
    expect_moved<std::int32_t, std::int64_t>(ctx, shape);
    expect_moved<std::array<std::int32_t, 3>, std::int32_t>(ctx, shape);
    expect_moved<std::int64_t, std::int64_t>(ctx, shape);
    expect_moved<std::array<char, 16>, std::int32_t>(ctx, shape);
    expect_moved<std::array<std::int64_t, 2>, std::int64_t>(ctx, shape);
  }
}

TEST_P(PatternTranspose, gives_columns_of_halves) {
  Context ctx = context();
  const Csr<Half> A(3, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 2, 0},
                    Array(std::vector{Half(1), Half(2), Half(3)}));
  const Csc<Half> C = to_csc_as_bits(ctx, A);
  EXPECT_EQ(C.rows(), 2);
  EXPECT_EQ(C.cols(), 3);
  EXPECT_EQ(contents(C.col_offsets()), (std::vector<std::int32_t>{0, 2, 2, 3}));
  EXPECT_EQ(contents(C.row_indices()), (std::vector<std::int32_t>{0, 1, 0}));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(float(C.values().host()[k]), (std::array{1.0F, 3.0F, 2.0F}[k]));
}

INSTANTIATE_TEST_SUITE_P(, PatternTranspose, backends, param_name);

}  // namespace
}  // namespace krill::test
