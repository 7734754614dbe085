#include "sparse/spmm/spmm.hpp"

#include "sparse/convert/convert.hpp"
#include "tests/spmm/dense_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/lent.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Spmm = OnBackendAndScalar;

TEST_P(Spmm, csr_follows_its_formula_for_every_shape_width_and_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], factor = random_vector<T>(2, 1)[0];
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(31, shape);
      const Csr<T, std::int64_t> wide = random_csr<T, std::int64_t>(31, shape);
      const Reference ref = reference(A);
      for (const std::int64_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32, 33, 67, 128}) {
        if (k > 9 && k * A.nnz() > 330'000) continue;
        const T beta = k % 2 ? factor : T(0);
        const auto expected =
            expected_columns(Op::none, Op::none, alpha, ref, random_dense<T>(3, A.cols(), k, orders[0]), beta,
                             random_dense<T>(4, A.rows(), k, orders[0]));
        for (const Order of_b : orders)
          for (const Order of_c : orders)
            for (const std::int64_t padding : {0, 3}) {
              const auto B = random_dense<T>(3, A.cols(), k, of_b, padding);
              const auto before = random_dense<T>(4, A.rows(), k, of_c, padding);
              Dense<T> C = before.clone();
              padding ? spmm(ctx, Op::none, Op::none, alpha, A, B, beta, C)
                      : spmm(ctx, Op::none, Op::none, alpha, wide, B, beta, C);
              expect_columns(expected, C, shape.name);
            }
      }
    }
  });
}

TEST_P(Spmm, every_format_follows_the_formula_for_every_op) {
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
        for (const Op op_a : ops)
          for (const Op op_b : ops) {
            const Order order = orders[(op_a == Op::none) != (op_b == Op::none)];
            const std::int64_t k = 5, inner = A.cols(op_a);
            const auto B = random_dense<T>(3, op_b == Op::none ? inner : k, op_b == Op::none ? k : inner, order);
            const auto before = random_dense<T>(4, A.rows(op_a), k, order);
            Dense<T> C = before.clone();
            spmm(ctx, op_a, op_b, alpha, *F, B, beta, C);
            expect_product(op_a, op_b, alpha, ref, B, beta, before, C, shape.name + std::string(", ") + named.name);
          }
      }
    }
  });
}

/// What B has in rows that A has no entry for is not looked at, though formats may have places for it.
TEST_P(Spmm, every_format_follows_the_formula_for_every_width_and_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], beta = random_vector<T>(2, 1)[0];
    for (const Shape& shape : {nasty_shapes()[6], nasty_shapes()[10]}) {  // short rows, long ones
      const Csr<T> A = random_csr<T>(61, shape);
      const Reference ref = reference(A);
      std::vector<bool> used(static_cast<std::size_t>(A.cols()));
      for (const std::int32_t col : A.col_indices().host()) used[static_cast<std::size_t>(col)] = true;
      for (const std::int64_t k : {1, 4, 8, 33})
        for (const Order of_b : orders) {
          auto B = random_dense<T>(3, A.cols(), k, of_b, k % 2 * 3);
          const auto before = random_dense<T>(4, A.rows(), k, orders[k == 8], 2);
          const auto expected = expected_columns(Op::none, Op::none, alpha, ref, B, beta, before);
          for (std::int32_t j = 0; j < A.cols(); ++j)
            for (std::int64_t c = 0; c < k && !used[static_cast<std::size_t>(j)]; ++c)
              B.edit().at(j, c) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
          for (const NamedFormat& named : all_formats()) {
            const auto F = converted<T>(ctx, A, named);
            if (!F) continue;
            Dense<T> C = before.clone();
            spmm(ctx, Op::none, Op::none, alpha, *F, B, beta, C);
            expect_columns(expected, C, shape.name + std::string(", ") + named.name + ", " + std::to_string(k));
          }
        }
    }
  });
}

TEST_P(Spmm, can_be_captured_skipped_and_repeated_in_every_format) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(33, nasty_shapes()[6]);
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      const Order order = orders[static_cast<int>(named.format) % 2];
      const auto B = random_dense<T>(3, A.cols(), 9, order), other = random_dense<T>(5, A.cols(), 9, order);
      Dense<T> C(A.rows(), 9, order), again(A.rows(), 9, order);
      replay(ctx, [&] { spmm(ctx, Op::none, Op::none, T(2), *F, B, T(0), C); });
      spmm(ctx, Op::none, Op::none, T(2), *F, B, T(0), again);
      EXPECT_EQ(contents(C.values()), contents(again.values())) << named.name;
      run_skipped(ctx, [&] { spmm(ctx, Op::none, Op::none, T(2), *F, other, T(0), C); });
      EXPECT_EQ(contents(C.values()), contents(again.values())) << named.name;
    }
  });
}

/// One column is a product with a vector, whatever it is called.
TEST_P(Spmm, with_one_column_is_spmv_bit_by_bit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(31, shape);
      const auto x = random_vector<T>(3, A.cols());
      Array<T> y(A.rows());
      spmv(ctx, Op::none, T(2), A, Array<T>(x), T(0), y);
      for (const Order order : orders) {
        const Dense<T> B(A.cols(), 1, Array<T>(x), order);
        Dense<T> C(A.rows(), 1, order);
        spmm(ctx, Op::none, Op::none, T(2), A, B, T(0), C);
        EXPECT_EQ(contents(C.values()), contents(y)) << shape.name;
      }
    }
  });
}

TEST_P(Spmm, dense_times_sparse_follows_its_formula) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], beta = random_vector<T>(2, 1)[0];
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> S = random_csr<T>(31, shape);
      if (S.nnz() > 20'000) continue;
      const Csc<T> columns = to_csc(ctx, S);
      for (const Order order : orders) {
        const auto A = random_dense<T>(3, 9, S.rows(), order), before = random_dense<T>(4, 9, S.cols(), order, 2);
        Dense<T> C = before.clone(), D = before.clone();
        dense_times_sparse(ctx, alpha, A, columns, beta, C);
        dense_times_sparse(ctx, alpha, A, S, beta, D);
        for (std::int64_t i = 0; i < 9; ++i) {
          const Product expected = product(Op::transpose, Z(alpha), reference(S), column_of(A, Op::transpose, i),
                                           Z(beta), column_of(before, Op::transpose, i), epsilon<T>());
          for (std::int64_t j = 0; j < S.cols(); ++j) {
            ASSERT_LE(std::abs(Z(C.host().at(i, j)) - expected.y[static_cast<std::size_t>(j)]),
                      expected.bound[static_cast<std::size_t>(j)]);
            ASSERT_LE(std::abs(Z(D.host().at(i, j)) - expected.y[static_cast<std::size_t>(j)]),
                      expected.bound[static_cast<std::size_t>(j)]);
          }
        }
      }
    }
  });
}

TEST_P(Spmm, beta_zero_overwrites_nan_and_scalars_may_lie_on_the_device) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(33, nasty_shapes()[7]);
    const Array<T> two{T(2)}, zero{T(0)};
    for (const Order order : orders) {
      const auto B = random_dense<T>(3, A.cols(), 9, order);
      const auto zeros = Dense<T>(A.rows(), 9, Array<T>(std::vector<T>(static_cast<std::size_t>(A.rows()) * 9)), order);
      Dense<T> C(A.rows(), 9, order);
      for (T& entry : C.values().edit()) entry = T(std::numeric_limits<real_t<T>>::quiet_NaN());
      Dense<T> D = C.clone();
      spmm(ctx, Op::none, Op::none, T(2), A, B, T(0), C);
      spmm(ctx, Op::none, Op::none, two, A, B, zero, D);
      expect_product(Op::none, Op::none, T(2), reference(A), B, T(0), zeros, C, "host scalars");
      EXPECT_EQ(contents(C.values()), contents(D.values()));
    }
  });
}

TEST_P(Spmm, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : {nasty_shapes()[6], nasty_shapes()[8]})
      for (const Order order : orders) {
        const Csr<T> A = random_csr<T>(33, shape);
        const auto B = random_dense<T>(3, A.cols(), 20, order), other = random_dense<T>(5, A.cols(), 20, order);
        Dense<T> C(A.rows(), 20, order), again(A.rows(), 20, order);
        replay(ctx, [&] { spmm(ctx, Op::none, Op::none, T(2), A, B, T(0), C); });
        spmm(ctx, Op::none, Op::none, T(2), A, B, T(0), again);
        EXPECT_EQ(contents(C.values()), contents(again.values()));
        run_skipped(ctx, [&] { spmm(ctx, Op::none, Op::none, T(2), A, other, T(0), C); });
        EXPECT_EQ(contents(C.values()), contents(again.values()));
      }
  });
}

/// So many entries that the host wakes its threads.
TEST_P(Spmm, is_the_same_for_any_number_of_threads) {
  if (std::get<0>(GetParam()) != Backend::host) GTEST_SKIP();
  with_scalar([&]<class T>(T) {
    const Csr<T> A = random_csr<T>(33, nasty_shapes().back());
    for (const Order order : orders) {
      const auto B = random_dense<T>(3, A.cols(), 9, order);
      const auto made = [&](int threads) {
        Context ctx = Context::host(threads);
        Dense<T> C(A.rows(), 9, order);
        spmm(ctx, Op::none, Op::none, T(1), A, B, T(0), C);
        return contents(C.values());
      };
      const auto first = made(1);
      EXPECT_EQ(first, made(2));
      EXPECT_EQ(first, made(3));
    }
  });
}

TEST_P(Spmm, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(33, nasty_shapes()[6]);  // 1000 x 900
    const Dense<T> B(900, 3), turned(3, 900), tall(901, 3);
    Dense<T> C(1000, 3), narrow(1000, 2), low(999, 3), square(900, 900);
    EXPECT_THROW(spmm(ctx, Op::none, Op::none, T(1), A, tall, T(0), C), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::none, Op::none, T(1), A, turned, T(0), C), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::transpose, Op::none, T(1), A, B, T(0), C), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::none, Op::none, T(1), A, B, T(0), narrow), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::none, Op::none, T(1), A, B, T(0), low), ShapeMismatch);
    EXPECT_THROW(dense_times_sparse(ctx, T(1), B, A, T(0), C), ShapeMismatch);
    const Csr<T> I = random_csr<T>(33, {"square", 900, 900, [](std::int32_t, std::mt19937_64&) { return 1; }});
    EXPECT_THROW(spmm(ctx, Op::none, Op::none, T(1), I, square, T(0), square), InvalidArgument);
  });
}

/// B and C in one array of a caller's, where entry `first` of it is C's first.
TEST_P(Spmm, refuses_lent_matrices_that_overlap) {
  struct Case {
    std::int64_t first, pitch_of_b, pitch_of_c;
    Order of_b, of_c;
    bool overlaps;
  };
  constexpr Order columns = Order::column_major, rows = Order::row_major;
  // Of 8 x 3 numbers each: one column after the other, in the same columns above each other, by rows.
  const Case cases[]{
      {0, 8, 8, columns, columns, true},    {23, 8, 8, columns, columns, true},    {24, 8, 8, columns, columns, false},
      {8, 16, 16, columns, columns, false}, {7, 16, 16, columns, columns, true},   {9, 16, 16, columns, columns, true},
      {25, 16, 16, columns, columns, true}, {24, 16, 16, columns, columns, false}, {3, 6, 6, rows, rows, false},
      {4, 6, 6, rows, rows, true},          {24, 8, 3, columns, rows, false},      {23, 8, 3, columns, rows, true},
      {40, 16, 8, columns, columns, false}, {39, 16, 8, columns, columns, true}};
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> I = random_csr<T>(33, {"square", 8, 8, [](std::int32_t, std::mt19937_64&) { return 2; }});
    Lent<T> memory(ctx, random_vector<T>(1, 100));
    for (const Case& c : cases) {
      const auto lent = [&](std::int64_t first, std::int64_t pitch, Order order) {
        const std::int64_t lines = order == columns ? 3 : 8;
        return Dense<T>(8, 3, memory.borrow_part(first, pitch * lines), order, pitch);
      };
      const Dense<T> B = lent(0, c.pitch_of_b, c.of_b);
      Dense<T> C = lent(c.first, c.pitch_of_c, c.of_c);
      const auto run = [&] { spmm(ctx, Op::none, Op::none, T(1), I, B, T(1), C); };
      if (c.overlaps)
        EXPECT_THROW(run(), InvalidArgument) << c.first << ", " << c.pitch_of_b;
      else
        EXPECT_NO_THROW(run()) << c.first << ", " << c.pitch_of_b;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Spmm, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
