#include "sparse/vector/gemvi.hpp"

#include <algorithm>

#include "tests/spmm/dense_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Gemvi = OnBackendAndScalar;

template <class T>
std::vector<T> scalars(std::initializer_list<int> values) {
  return {values.begin(), values.end()};
}

/// `nnz` random entries of `size`.
template <class T>
SparseVector<T> random_sparse(std::uint64_t seed, std::int32_t size, std::int32_t nnz) {
  std::vector<std::int32_t> indices = shuffled(seed, size);
  indices.resize(static_cast<std::size_t>(nnz));
  std::sort(indices.begin(), indices.end());
  return {size, Array(std::move(indices)), Array(random_vector<T>(seed, nnz))};
}

/// A matrix and a vector: NaN stands in padding and wherever an entry of A meets none of x.
template <class T>
struct Operands {
  Op op;
  Dense<T> A;
  SparseVector<T> x;
  std::vector<T> y;

  Operands(std::int32_t rows, std::int32_t cols, std::int32_t nnz, Op op, Order order, std::int64_t padding)
      : op(op),
        A(op == Op::none ? random_dense<T>(1, rows, cols, order, padding)
                         : random_dense<T>(1, cols, rows, order, padding)),
        x(random_sparse<T>(2, cols, nnz)),
        y(random_vector<T>(3, rows)) {
    const auto a = A.edit();
    const auto used = x.indices().host();
    for (std::int32_t j = 0; j < cols; ++j)
      if (!std::binary_search(used.begin(), used.end(), j))
        for (std::int32_t i = 0; i < rows; ++i)
          (op == Op::none ? a.at(i, j) : a.at(j, i)) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  }

  /// By Eigen, of the entries that count alone, so that the bounds are those of their number.
  Product expected(T alpha, T beta) const {
    Reference used{A.rows(op), x.nnz(), {}, {}, {}};
    for (std::int32_t k = 0; k < x.nnz(); ++k) {
      const std::int32_t j = x.indices().host()[static_cast<std::size_t>(k)];
      for (std::int32_t i = 0; i < A.rows(op); ++i) {
        const Z entry(op == Op::none ? A.host().at(i, j) : A.host().at(j, i));
        used.row.push_back(i), used.col.push_back(k);
        used.value.push_back(op == Op::adjoint ? std::conj(entry) : entry);
      }
    }
    return product(Op::none, Z(alpha), used, to_reference(x.values()), Z(beta), to_reference(y), epsilon<T>());
  }
};

template <class T>
void expect_close(const Array<T>& y, const Product& expected, const std::string& what) {
  for (std::size_t i = 0; i < expected.y.size(); ++i)
    ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << what << ", entry " << i;
}

struct GemviShape {
  std::int32_t rows, cols, nnz;
};
/// Of op(A): nothing, one row, few rows and many entries, more rows than the threads of a device.
constexpr GemviShape gemvi_shapes[] = {{0, 5, 2},         {5, 0, 0},         {5, 4, 0},        {1, 1, 1},
                                       {1, 9'001, 7'003}, {7, 3'000, 2'111}, {33, 40, 17},     {300, 900, 500},
                                       {2'001, 60, 31},   {70'001, 9, 4},    {35'003, 80, 70}, {1'100'003, 3, 2}};

TEST_P(Gemvi, follows_its_formula_for_every_shape_order_and_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(4, 1)[0], factor = random_vector<T>(5, 1)[0];
    int turn = 0;
    for (const GemviShape& shape : gemvi_shapes)
      for (const Order order : orders)
        for (const Op op : ops) {
          ++turn;
          if (shape.rows > 30'000 && op != Op::transpose) continue;  // as none in the other order
          if (shape.rows > 1'000'000 && order == Order::column_major) continue;
          const T beta = turn % 3 == 0 ? T(1) : turn % 3 == 1 ? T(0) : factor;
          const Operands<T> operands(shape.rows, shape.cols, shape.nnz, op, order, turn % 4);
          Array<T> y(operands.y);
          gemvi(ctx, op, alpha, operands.A, operands.x, beta, y);
          expect_close(
              y, operands.expected(alpha, beta),
              std::to_string(shape.rows) + " x " + std::to_string(shape.nnz) + ", turn " + std::to_string(turn));
        }
  });
}

/// The catalogue's vector, with x counted from one, as views have it, and from zero.
TEST_P(Gemvi, TV_GEMVI) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dense<T> A(3, 4, Array<T>(scalars<T>({1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99, 10, 11, 12, 99})),
                     Order::column_major, 4);
    const Array<T> values(scalars<T>({10, 20}));
    Array<T> y(scalars<T>({1, 1, 1})), z(4);
    gemvi(ctx, Op::none, T(1), A, SparseVector<T>(4, Array<std::int32_t>{1, 3}, values.clone()), T(2), y);
    gemvi(ctx, Op::transpose, T(1), A, SparseVector<T>(3, Array<std::int32_t>{0, 2}, values.clone()), T(0), z);
    EXPECT_EQ(contents(y), scalars<T>({242, 272, 302}));
    EXPECT_EQ(contents(z), scalars<T>({70, 160, 250, 340}));

    using K = kernel_t<T>;
    const Array<std::int32_t> of_columns{2, 4}, of_rows{1, 3};
    y = Array<T>(scalars<T>({1, 1, 1})), z = Array<T>(4);
    ctx.dispatch([&](const auto& where) {
      const auto counted_from_one = [&](std::int32_t size, const Array<std::int32_t>& indices) {
        return SparseVectorView<const K>{size, 2, indices.read(where), values.read(where), IndexBase::one};
      };
      run_gemvi(where, Op::none,
                GemviCall<K>{{K(1)}, A.view(where), counted_from_one(4, of_columns), {K(2)}, y.update(where)});
      run_gemvi(where, Op::transpose,
                GemviCall<K>{{K(1)}, A.view(where), counted_from_one(3, of_rows), {K(0)}, z.write(where)});
    });
    EXPECT_EQ(contents(y), scalars<T>({242, 272, 302}));
    EXPECT_EQ(contents(z), scalars<T>({70, 160, 250, 340}));
  });
}

TEST_P(Gemvi, beta_zero_overwrites_nan_and_scalars_may_lie_on_the_device) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> two{T(2)}, zero{T(0)};
    for (const std::int32_t nnz : {0, 20}) {
      const Operands<T> operands(50, 40, nnz, Op::none, Order::column_major, 0);
      const auto nan = std::vector<T>(50, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
      Array<T> y(nan), z(nan);
      gemvi(ctx, Op::none, T(2), operands.A, operands.x, T(0), y);
      gemvi(ctx, Op::none, two, operands.A, operands.x, zero, z);
      expect_close(y, operands.expected(T(2), T(0)), "host scalars");
      EXPECT_EQ(contents(y), contents(z));
    }
  });
}

TEST_P(Gemvi, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Order order : orders)
      for (const std::int32_t rows : {3, 600}) {
        const Operands<T> operands(rows, 9'000, 7'000, Op::adjoint, order, 1);
        const SparseVector<T> other = random_sparse<T>(6, 9'000, 500);
        Array<T> y(operands.y), again(operands.y);
        replay(ctx, [&] { gemvi(ctx, Op::adjoint, T(2), operands.A, operands.x, T(0), y); });
        gemvi(ctx, Op::adjoint, T(2), operands.A, operands.x, T(0), again);
        EXPECT_EQ(contents(y), contents(again));
        run_skipped(ctx, [&] { gemvi(ctx, Op::adjoint, T(2), operands.A, other, T(0), y); });
        EXPECT_EQ(contents(y), contents(again));
        if (ctx.on_cuda()) continue;
        Context alone = Context::host(1);
        gemvi(alone, Op::adjoint, T(2), operands.A, operands.x, T(0), y);
        EXPECT_EQ(contents(y), contents(again));
      }
  });
}

TEST_P(Gemvi, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Dense<T> A(3, 3);
    SparseVector<T> x(3, Array<std::int32_t>{0, 1, 2}, Array<T>(3));
    const SparseVector<T> longer(4, Array<std::int32_t>{0}, Array<T>(1));
    const Dense<T> wide(3, 4);
    Array<T> y(3), short_y(2);
    const auto none = [&](const auto& a, const auto& v, auto& w, Op op = Op::none) {
      gemvi(ctx, op, T(1), a, v, T(0), w);
    };
    EXPECT_THROW(none(A, longer, y), ShapeMismatch);
    EXPECT_THROW(none(A, x, short_y), ShapeMismatch);
    EXPECT_THROW(none(wide, longer, y, Op::transpose), ShapeMismatch);
    EXPECT_THROW(none(wide, x, y, Op::adjoint), ShapeMismatch);
    EXPECT_EQ(complaint<InvalidArgument>([&] { none(A, x, x.values()); }), "gemvi: x and y must not be the same array");
    Dense<T> row(3, 1);
    const SparseVector<T> one(1, Array<std::int32_t>{0}, Array<T>(1));
    EXPECT_EQ(complaint<InvalidArgument>([&] { none(row, one, row.values()); }),
              "gemvi: A and y must not be the same array");
  });
}

INSTANTIATE_TEST_SUITE_P(, Gemvi, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
