#include "sparse/spgemm/spgeam.hpp"

#include "tests/spgemm/sums.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Spgeam = OnBackendAndScalar;

constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};

/// C is alpha op(A) + beta op(B), entry by entry, in the union of the patterns.
template <class T, class Offset>
void expect_sum(Op op_a, Op op_b, T alpha, const Csr<T, Offset>& A, T beta, const Csr<T, Offset>& B,
                const Csr<T, Offset>& C, const std::string& what) {
  Sums expected;
  add_to(expected, op_a, alpha, A);
  add_to(expected, op_b, beta, B);
  expect_entries(expected, C, what);
}

/// The shape of another matrix of the same size, with rows of other lengths.
Shape beside(const Shape& shape) {
  return {shape.name, shape.rows, shape.cols, [](std::int32_t row, std::mt19937_64& e) {
            return row % 7 == 3 ? 0 : row % 100 == 50 ? 600 : static_cast<std::int32_t>(e() % 4);
          }};
}

Shape turned(Shape shape) {
  std::swap(shape.rows, shape.cols);
  return shape;
}

TEST_P(Spgeam, is_the_sum_for_every_shape_and_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], beta = random_vector<T>(2, 1)[0];
    for (const Shape& shape : nasty_shapes())
      for (const Op op_a : ops)
        for (const Op op_b : ops) {
          const Shape of_B = beside(shape);
          const bool same_way = (op_a == Op::none) == (op_b == Op::none);
          const Csr<T> A = random_csr<T>(31, shape), B = random_csr<T>(32, same_way ? of_B : turned(of_B));
          if (A.nnz() > 20'000 && op_a != op_b) continue;
          const Csr<T> C = spgeam(ctx, op_a, op_b, alpha, A, beta, B);
          expect_sum(op_a, op_b, alpha, A, beta, B, C, shape.name);
        }
  });
}

/// The pattern is the union, though an entry cancels and a factor is zero.
TEST_P(Spgeam, TV_GEAM_and_trap_10_has_the_union_of_the_patterns) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto matrix = [](std::vector<std::int32_t> columns, std::vector<T> values) {
      return Csr<T>(3, Array<std::int32_t>{0, 2, 3}, Array(std::move(columns)), Array(std::move(values)));
    };
    const Csr<T> A = matrix({0, 2, 1}, {T(1), T(2), T(3)}), B = matrix({0, 1, 1}, {T(-1), T(5), T(4)});
    const std::pair<T, std::vector<T>> sums[] = {{T(1), {T(0), T(5), T(2), T(7)}}, {T(0), {T(-1), T(5), T(0), T(4)}}};
    for (const auto& [alpha, values] : sums) {
      const Csr<T> C = spgeam(ctx, Op::none, Op::none, alpha, A, T(1), B);
      EXPECT_EQ(contents(C.row_offsets()), (std::vector<std::int32_t>{0, 3, 4}));
      EXPECT_EQ(contents(C.col_indices()), (std::vector<std::int32_t>{0, 1, 2, 1}));
      EXPECT_EQ(contents(C.values()), values);
    }
  });
}

TEST_P(Spgeam, has_offsets_of_64_bits) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const auto A = random_csr<T, std::int64_t>(31, shape), B = random_csr<T, std::int64_t>(32, beside(shape));
      expect_sum(Op::none, Op::none, T(2), A, T(-1), B, spgeam(ctx, Op::none, Op::none, T(2), A, T(-1), B), shape.name);
      const auto S = spgeam(ctx, Op::transpose, Op::transpose, T(2), A, T(-1), B);
      expect_sum(Op::transpose, Op::transpose, T(2), A, T(-1), B, S, shape.name);
    }
  });
}

TEST_P(Spgeam, keeps_entries_that_cancel_and_those_of_zero_factors) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Shape& shape = nasty_shapes()[6];
    const Csr<T> A = random_csr<T>(31, shape), B = random_csr<T>(32, shape);
    const Csr<T> nothing = spgeam(ctx, Op::none, Op::none, T(1), A, T(-1), A);
    EXPECT_EQ(contents(nothing.col_indices()), contents(A.col_indices()));
    for (const T value : nothing.values().host()) EXPECT_EQ(value, T(0));
    const Csr<T> sum = spgeam(ctx, Op::none, Op::none, T(1), A, T(1), B);
    const Csr<T> zeros = spgeam(ctx, Op::none, Op::none, T(0), A, T(0), B);
    EXPECT_EQ(contents(zeros.row_offsets()), contents(sum.row_offsets()));
    EXPECT_EQ(contents(zeros.col_indices()), contents(sum.col_indices()));
    for (const T value : zeros.values().host()) EXPECT_EQ(value, T(0));
  });
}

TEST_P(Spgeam, shifts_by_the_identity) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const Csr<T> A = random_csr<T>(31, shape);
      expect_sum(Op::none, Op::none, T(1), A, T(3), identity<T>(A.rows()), add_identity(ctx, A, T(3)), shape.name);
    }
  });
}

TEST_P(Spgeam, follows_new_values_in_captures_and_does_nothing_when_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Op op : ops) {
      const Shape& shape = nasty_shapes()[6];
      const Shape of_B = op == Op::none ? shape : turned(shape);
      const Csr<T> A = random_csr<T>(31, shape), B = random_csr<T>(32, of_B);
      Csr<T> other = A.clone();
      const auto values = random_vector<T>(33, A.nnz());
      std::copy(values.begin(), values.end(), other.values().edit().begin());
      const Array<T> two{T(2)}, three{T(3)};
      SpgeamPlan<T> plan(ctx, Op::none, A, op, B);
      plan.update(ctx, T(1), A, T(1), B);
      replay(ctx, [&] { plan.update(ctx, two, other, three, B); });
      const Csr<T> again = spgeam(ctx, Op::none, op, T(2), other, T(3), B);
      EXPECT_EQ(contents(plan.matrix().row_offsets()), contents(again.row_offsets()));
      EXPECT_EQ(contents(plan.matrix().col_indices()), contents(again.col_indices()));
      EXPECT_EQ(contents(plan.matrix().values()), contents(again.values()));
      run_skipped(ctx, [&] { plan.update(ctx, T(1), A, T(1), B); });
      EXPECT_EQ(contents(plan.matrix().values()), contents(again.values()));
    }
  });
}

/// So many entries that the host wakes its threads.
TEST_P(Spgeam, is_the_same_for_any_number_of_threads) {
  if (std::get<0>(GetParam()) != Backend::host) GTEST_SKIP();
  with_scalar([&]<class T>(T) {
    const Csr<T> A = random_csr<T>(31, nasty_shapes().back()), B = random_csr<T>(32, nasty_shapes().back());
    const auto made = [&](int threads) {
      Context ctx = Context::host(threads);
      return spgeam(ctx, Op::none, Op::none, T(2), A, T(3), B);
    };
    const Csr<T> first = made(1);
    for (const int threads : {2, 3}) {
      const Csr<T> other = made(threads);
      EXPECT_EQ(contents(first.row_offsets()), contents(other.row_offsets()));
      EXPECT_EQ(contents(first.col_indices()), contents(other.col_indices()));
      EXPECT_EQ(contents(first.values()), contents(other.values()));
    }
  });
}

TEST_P(Spgeam, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(31, nasty_shapes()[6]), B = random_csr<T>(32, nasty_shapes()[6]);  // 1000 x 900
    const Csr<T> other = random_csr<T>(31, nasty_shapes()[7]);
    EXPECT_THROW(SpgeamPlan<T>(ctx, Op::none, A, Op::none, other), ShapeMismatch);
    EXPECT_THROW(SpgeamPlan<T>(ctx, Op::none, A, Op::transpose, B), ShapeMismatch);
    EXPECT_THROW(add_identity(ctx, A, T(1)), ShapeMismatch);
    SpgeamPlan<T> plan(ctx, Op::none, A, Op::none, B);
    EXPECT_THROW(plan.update(ctx, T(1), B, T(1), B), ShapeMismatch);  // as many rows, other entries
    EXPECT_THROW(plan.update(ctx, T(1), A, T(1), other), ShapeMismatch);
    SpgeamPlan<T> same(ctx, Op::none, A, Op::none, A);
    EXPECT_THROW(same.update(ctx, T(1), same.matrix(), T(1), A), InvalidArgument);
    if (ctx.on_cuda()) {
      Context host = Context::host();
      EXPECT_THROW(plan.update(host, T(1), A, T(1), B), InvalidArgument);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Spgeam, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
