#include "sparse/convert/dense.hpp"

#include <algorithm>

#include "sparse/convert/convert.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using DenseConvert = OnBackendAndScalar;
using Ints = std::vector<std::int32_t>;

template <class T>
std::vector<T> scalars(std::initializer_list<double> values) {
  std::vector<T> result;
  for (const double value : values) result.push_back(T(static_cast<real_t<T>>(value)));
  return result;
}

template <class T>
T not_a_number() {
  return T(std::numeric_limits<real_t<T>>::quiet_NaN());
}

/// How far the leading dimension of a test matrix exceeds the least one, in both orders.
struct Layout {
  Order order;
  std::int64_t padding;
};
constexpr Layout layouts[] = {
    {Order::column_major, 0}, {Order::column_major, 3}, {Order::row_major, 0}, {Order::row_major, 5}};

/// A dense matrix in which every entry, padding included, is `value`.
template <class T>
Dense<T> filled(std::int32_t rows, std::int32_t cols, Layout layout, T value) {
  const bool by_columns = layout.order == Order::column_major;
  const std::int64_t line = (by_columns ? rows : cols) + layout.padding, lines = by_columns ? cols : rows;
  return {rows, cols, Array<T>(std::vector<T>(static_cast<std::size_t>(line * lines), value)), layout.order, line};
}

template <class T>
std::int64_t count_in_padding(const Dense<T>& D, T value) {
  const std::int64_t length = D.host().line_length(), stride = std::max<std::int64_t>(D.leading_dimension(), 1);
  const auto values = D.values().host();
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < std::ssize(values); ++k)
    count += k % stride >= length && values[static_cast<std::size_t>(k)] == value;
  return count;
}

template <class T, class Offset>
void expect_holds(const Dense<T>& D, const Csr<T, Offset>& A, const std::string& what) {
  ASSERT_EQ(D.rows(), A.rows()) << what;
  ASSERT_EQ(D.cols(), A.cols()) << what;
  const DenseView<const T> d = D.host();
  const auto offsets = A.row_offsets().host();
  for (std::int32_t i = 0; i < A.rows(); ++i) {
    std::vector<T> row(static_cast<std::size_t>(A.cols()));
    for (auto k = offsets[static_cast<std::size_t>(i)]; k < offsets[static_cast<std::size_t>(i) + 1]; ++k)
      row[static_cast<std::size_t>(A.col_indices().host()[static_cast<std::size_t>(k)])] =
          A.values().host()[static_cast<std::size_t>(k)];
    std::int32_t j = 0;
    while (j < A.cols() && d.at(i, j) == row[static_cast<std::size_t>(j)]) ++j;
    ASSERT_EQ(j, A.cols()) << what << ": row " << i << " differs in column " << j;
  }
}

template <class T, class Offset>
void expect_same(const Csr<T, Offset>& a, const Csr<T, Offset>& b, const std::string& what) {
  EXPECT_EQ(a.rows(), b.rows()) << what;
  EXPECT_EQ(a.cols(), b.cols()) << what;
  EXPECT_EQ(contents(a.row_offsets()), contents(b.row_offsets())) << what;
  EXPECT_EQ(contents(a.col_indices()), contents(b.col_indices())) << what;
  EXPECT_EQ(contents(a.values()), contents(b.values())) << what;
}

/// The shapes whose dense form is small enough for a test.
std::vector<Shape> dense_shapes() {
  std::vector<Shape> shapes;
  std::ranges::copy_if(nasty_shapes(), std::back_inserter(shapes),
                       [](const Shape& s) { return std::int64_t{s.rows} * s.cols < 1'500'000; });
  shapes.push_back({"wide", 3, 150'000, [](std::int32_t row, std::mt19937_64&) { return row * 70'000; }});
  return shapes;
}

TEST_P(DenseConvert, csr_to_dense_and_back_changes_nothing_not_even_padding) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : dense_shapes())
      for (const Layout layout : layouts) {
        const Csr<T> A = random_csr<T>(51, shape);
        const T sentinel(7);
        Dense<T> D = filled(A.rows(), A.cols(), layout, sentinel);
        const std::int64_t padding = count_in_padding(D, sentinel);
        to_dense(ctx, A, D);
        expect_holds(D, A, shape.name);
        EXPECT_EQ(count_in_padding(D, sentinel), padding) << shape.name;
        expect_same(to_csr(ctx, D), A, shape.name);
      }
  });
}

TEST_P(DenseConvert, a_new_dense_matrix_with_64_bit_offsets) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : dense_shapes()) {
      const Csr<T, std::int64_t> A = random_csr<T, std::int64_t>(52, shape);
      const Dense<T> D = to_dense(ctx, A, Order::row_major, std::int64_t{A.cols()} + 2);
      EXPECT_EQ(D.leading_dimension(), A.cols() + 2);
      expect_holds(D, A, shape.name);
      expect_same(to_csr<T, std::int64_t>(ctx, D), A, shape.name);
    }
  });
}

/// The numbers of TV-COMPRESS.
template <class T>
Array<T> catalogue_values() {
  return Array<T>(
      scalars<T>({1, 0, 2, 0, 0, 6.5, 3, -4, 0, 0, 0, 0, 0, 5, 0, 6, 0, -9.9, 0, 0, 7, 0, 3.5, 0, 0, 0, 8, 9, 5.5, 0}));
}

TEST_P(DenseConvert, TV_COMPRESS_counts_and_rows) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dense<T> D(6, 5, catalogue_values<T>());
    Array<std::int32_t> of_rows(6), of_columns(5);
    Array<std::int64_t> total(1), again(1);
    count_nonzeros(ctx, D, Direction::rows, of_rows, total);
    count_nonzeros(ctx, D, Direction::columns, of_columns, again);
    EXPECT_EQ(contents(of_rows), (Ints{2, 2, 3, 2, 2, 2}));
    EXPECT_EQ(contents(of_columns), (Ints{3, 2, 3, 2, 3}));
    EXPECT_EQ(total.host()[0], 13);
    EXPECT_EQ(again.host()[0], 13);
    const Csr<T> A = to_csr(ctx, D);
    EXPECT_EQ(contents(A.values()), scalars<T>({1, 3, -4, 5, 2, 7, 8, 6, 9, 3.5, 5.5, 6.5, -9.9}));
    EXPECT_EQ(contents(A.col_indices()), (Ints{0, 1, 1, 2, 0, 3, 4, 2, 4, 3, 4, 0, 2}));
    EXPECT_EQ(contents(A.row_offsets()), (Ints{0, 2, 4, 7, 9, 11, 13}));
  });
}

/// Runs the view kernels for columns: csc -> dense -> csc, indices counted from `base`.
template <class T>
void check_columns(Context& ctx, IndexBase base, const Layout& layout) {
  const auto first = static_cast<std::int32_t>(base);
  const auto from_base = [first](Ints indices) {
    for (std::int32_t& index : indices) index += first;
    return indices;
  };
  // TV-A45 by columns
  const Array<std::int32_t> col_offsets(from_base({0, 2, 4, 6, 7, 9})),
      row_indices(from_base({0, 2, 0, 1, 1, 3, 2, 2, 3}));
  const Array<T> values(scalars<T>({1, 5, 4, 2, 3, 9, 7, 8, 6}));
  Dense<T> D = filled(4, 5, layout, not_a_number<T>());
  Array<std::int32_t> counts(5), found_rows(9), offsets(col_offsets.clone());
  Array<std::int64_t> total(1);
  Array<T> found(9);
  ctx.dispatch([&](const auto& where) {
    const CsrView<const kernel_t<T>> csc{
        5, 4, 9, col_offsets.read(where), row_indices.read(where), values.read(where), base};
    csr_to_dense(where, csc, D.write(where).transposed());
    count_nonzeros(where, D.view(where).transposed(), counts.write(where), total.write(where));
    dense_to_csr<kernel_t<T>, std::int32_t>(
        where, D.view(where).transposed(),
        {5, 4, 9, offsets.update(where), found_rows.write(where), found.write(where), base});
  });
  const double expected[4][5] = {{1, 4, 0, 0, 0}, {0, 2, 3, 0, 0}, {5, 0, 0, 7, 8}, {0, 0, 9, 0, 6}};
  for (std::int32_t i = 0; i < 4; ++i)
    for (std::int32_t j = 0; j < 5; ++j) EXPECT_EQ(Z(D.host().at(i, j)), Z(expected[i][j]));
  EXPECT_EQ(contents(counts), (Ints{2, 2, 2, 1, 2}));
  EXPECT_EQ(total.host()[0], 9);
  EXPECT_EQ(contents(found_rows), contents(row_indices));
  EXPECT_EQ(contents(found), contents(values));
}

TEST_P(DenseConvert, columns_are_the_rows_of_the_transpose) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const IndexBase base : {IndexBase::zero, IndexBase::one})
      for (const Layout& layout : layouts) check_columns<T>(ctx, base, layout);
  });
}

TEST_P(DenseConvert, TV_HIP35_from_base_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // TV-HIP35
    const Array<std::int32_t> row_offsets{1, 4, 6, 9}, col_indices{1, 2, 4, 2, 3, 1, 4, 5};
    const Array<T> values(scalars<T>({1, 2, 3, 4, 5, 6, 7, 8}));
    Dense<T> D(3, 5, Order::row_major);
    ctx.dispatch([&](const auto& where) {
      const CsrView<const kernel_t<T>> csr{
          3, 5, 8, row_offsets.read(where), col_indices.read(where), values.read(where), IndexBase::one};
      csr_to_dense(where, csr, D.write(where));
    });
    EXPECT_EQ(contents(D.values()), scalars<T>({1, 2, 0, 3, 0, 0, 4, 5, 0, 0, 6, 0, 0, 7, 8}));
  });
}

TEST_P(DenseConvert, counts_agree_with_the_rows_of_csr_in_every_layout) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : dense_shapes())
      for (const Layout layout : layouts) {
        const Csr<T> A = random_csr<T>(53, shape), At = transpose(ctx, A);
        Dense<T> D = filled(A.rows(), A.cols(), layout, not_a_number<T>());  // padding is not counted
        to_dense(ctx, A, D);
        for (const Direction direction : {Direction::rows, Direction::columns}) {
          const Csr<T>& counted = direction == Direction::rows ? A : At;
          Array<std::int32_t> counts(counted.rows());
          Array<std::int64_t> total(1);
          count_nonzeros(ctx, D, direction, counts, total);
          Ints expected;
          for (std::size_t i = 0; i < static_cast<std::size_t>(counted.rows()); ++i)
            expected.push_back(counted.row_offsets().host()[i + 1] - counted.row_offsets().host()[i]);
          EXPECT_EQ(contents(counts), expected) << shape.name;
          EXPECT_EQ(total.host()[0], A.nnz()) << shape.name;
        }
      }
  });
}

TEST_P(DenseConvert, nan_is_an_entry_and_minus_zero_is_none) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Dense<T> D(2, 2, Array<T>(std::vector<T>{T(0), not_a_number<T>(), -T(0), T(3)}));
    const Csr<T> A = to_csr(ctx, D);
    EXPECT_EQ(contents(A.row_offsets()), (Ints{0, 0, 2}));
    EXPECT_EQ(contents(A.col_indices()), (Ints{0, 1}));
    EXPECT_TRUE(std::isnan(Z(A.values().host()[0]).real()));
  });
}

TEST_P(DenseConvert, a_dense_matrix_without_zeros_keeps_every_entry) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Layout layout : layouts) {
      const Csr<T> A = to_csr(ctx, filled(37, 1025, layout, T(2)));
      EXPECT_EQ(A.nnz(), 37 * 1025);
      EXPECT_NO_THROW(validate(A));
    }
  });
}

TEST_P(DenseConvert, captured_conversions_follow_their_inputs) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(54, nasty_shapes()[6]);
    Dense<T> D = filled(A.rows(), A.cols(), layouts[1], T(7));
    Array<std::int32_t> counts(A.cols());
    Array<std::int64_t> total(1);
    replay(ctx, [&] {
      to_dense(ctx, A, D);
      count_nonzeros(ctx, D, Direction::columns, counts, total);
    });
    expect_holds(D, A, "captured");
    EXPECT_EQ(total.host()[0], A.nnz());
  });
}

TEST_P(DenseConvert, a_skipped_conversion_touches_nothing) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(55, nasty_shapes()[3]);
    Dense<T> D = filled(1, 1, layouts[0], T(7));
    Array<std::int32_t> counts{-1};
    Array<std::int64_t> total{-1};
    // on the side of the context: what write() hands out does not have to hold what was on the other
    ctx.dispatch([&](const auto& where) { D.view(where), counts.read(where), total.read(where); });
    run_skipped(ctx, [&] {
      to_dense(ctx, A, D);
      count_nonzeros(ctx, D, Direction::rows, counts, total);
    });
    EXPECT_EQ(D.host().at(0, 0), T(7));
    EXPECT_EQ(counts.host()[0], -1);
    EXPECT_EQ(total.host()[0], -1);
  });
}

TEST_P(DenseConvert, operands_of_other_shapes_are_refused) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(56, nasty_shapes()[3]);
    Dense<T> wide(1, 2), tall(2, 1);
    EXPECT_THROW(to_dense(ctx, A, wide), ShapeMismatch);
    EXPECT_THROW(to_dense(ctx, A, tall), ShapeMismatch);
    EXPECT_THROW(to_dense(ctx, random_csr<T>(57, nasty_shapes()[6]), Order::column_major, 999), InvalidArgument);
    Array<std::int32_t> two(2);
    Array<std::int64_t> one(1), none(0);
    EXPECT_THROW(count_nonzeros(ctx, wide, Direction::rows, two, one), ShapeMismatch);
    EXPECT_THROW(count_nonzeros(ctx, wide, Direction::columns, two, none), ShapeMismatch);
  });
}

INSTANTIATE_TEST_SUITE_P(, DenseConvert, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
