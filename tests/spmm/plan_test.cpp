#include "sparse/spmm/plan.hpp"

#include "sparse/convert/convert.hpp"
#include "tests/spmm/dense_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using SpmmPlans = OnBackendAndScalar;

TEST_P(SpmmPlans, follow_the_formula_in_every_format_for_every_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], beta = random_vector<T>(2, 1)[0];
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(61, shape);
      if (A.nnz() > 20'000) continue;
      const Reference ref = reference(A);
      for (const NamedFormat& named : all_formats()) {
        const auto F = converted<T>(ctx, A, named);
        if (!F) continue;
        for (const Op op_a : ops) {
          const std::int64_t k = 9;
          const SpmmPlan<T> plan(ctx, *F, op_a, k);
          for (const Op op_b : ops) {
            const Order order = orders[(op_a == Op::none) != (op_b == Op::none)];
            const std::int64_t inner = A.cols(op_a);
            const auto B = random_dense<T>(3, op_b == Op::none ? inner : k, op_b == Op::none ? k : inner, order);
            const auto before = random_dense<T>(4, A.rows(op_a), k, order);
            Dense<T> C = before.clone();
            plan.apply(ctx, op_b, alpha, B, beta, C);
            expect_product(op_a, op_b, alpha, ref, B, beta, before, C, shape.name + std::string(", ") + named.name);
          }
        }
      }
    }
  });
}

/// Tiles that are known change no bit, nor does a number of columns that was not foreseen.
TEST_P(SpmmPlans, of_csr_are_spmm_bit_by_bit_for_any_number_of_columns) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const AnyMatrix<T> A = random_csr<T>(31, shape);
      for (const Op op : ops)
        for (const std::int64_t foreseen : {1, 2, 8, 33}) {
          const SpmmPlan<T> plan(ctx, A, op, foreseen);
          ASSERT_EQ(plan.cols(), op == Op::none ? cols(A) : rows(A));
          for (const std::int64_t k : {std::int64_t{1}, std::int64_t{3}, foreseen})
            for (const Order order : orders) {
              const auto B = random_dense<T>(3, plan.cols(), k, order);
              Dense<T> C(plan.rows(), k, order), expected(plan.rows(), k, order);
              plan.apply(ctx, Op::none, T(2), B, T(0), C);
              spmm(ctx, op, Op::none, T(2), A, B, T(0), expected);
              ASSERT_EQ(contents(C.values()), contents(expected.values()))
                  << shape.name << ", " << foreseen << ", " << k;
            }
        }
    }
  });
}

TEST_P(SpmmPlans, follow_new_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Shape shape = nasty_shapes()[6];
    const Csr<T> first = random_csr<T>(33, shape);
    Csr<T> second = first.clone();
    for (T& value : second.values().edit()) value *= T(3);
    const Reference ref = reference(second);
    for (const NamedFormat& named : all_formats()) {
      auto F = converted<T>(ctx, first, named);
      auto G = converted<T>(ctx, second, named);
      if (!F || !G) continue;
      for (const Op op : ops) {
        AnyMatrix<T> moving = *converted<T>(ctx, first, named);
        SpmmPlan<T> plan(ctx, moving, op, 4);
        update_values(ctx, second, moving);
        plan.update(ctx);
        const auto B = random_dense<T>(3, plan.cols(), 4, Order::column_major);
        const auto before = random_dense<T>(4, plan.rows(), 4, Order::column_major);
        Dense<T> C = before.clone();
        plan.apply(ctx, Op::none, T(1), B, T(0), C);
        expect_product(op, Op::none, T(1), ref, B, T(0), before, C, named.name);
      }
    }
  });
}

TEST_P(SpmmPlans, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : {nasty_shapes()[6], nasty_shapes()[8]})
      for (const Op op : ops)
        for (const Order order : orders) {
          const AnyMatrix<T> A = random_csr<T>(33, shape);
          const SpmmPlan<T> plan(ctx, A, op, 20);
          const auto B = random_dense<T>(3, plan.cols(), 20, order), other = random_dense<T>(5, plan.cols(), 20, order);
          Dense<T> C(plan.rows(), 20, order), again(plan.rows(), 20, order);
          replay(ctx, [&] { plan.apply(ctx, Op::none, T(2), B, T(0), C); });
          plan.apply(ctx, Op::none, T(2), B, T(0), again);
          EXPECT_EQ(contents(C.values()), contents(again.values()));
          run_skipped(ctx, [&] { plan.apply(ctx, Op::none, T(2), other, T(0), C); });
          EXPECT_EQ(contents(C.values()), contents(again.values()));
        }
  });
}

TEST_P(SpmmPlans, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = random_csr<T>(33, nasty_shapes()[6]);  // 1000 x 900
    EXPECT_THROW(SpmmPlan<T>(ctx, A, Op::none, 0), InvalidArgument);
    const SpmmPlan<T> plan(ctx, A, Op::none, 3), transposed(ctx, A, Op::transpose, 3);
    const Dense<T> B(900, 3), tall(901, 3);
    Dense<T> C(1000, 3), narrow(1000, 2);
    EXPECT_THROW(plan.apply(ctx, Op::none, T(1), tall, T(0), C), ShapeMismatch);
    EXPECT_THROW(plan.apply(ctx, Op::transpose, T(1), B, T(0), C), ShapeMismatch);
    EXPECT_THROW(plan.apply(ctx, Op::none, T(1), B, T(0), narrow), ShapeMismatch);
    EXPECT_THROW(transposed.apply(ctx, Op::none, T(1), B, T(0), C), ShapeMismatch);
  });
}

INSTANTIATE_TEST_SUITE_P(, SpmmPlans, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
