#include "sparse/spmm/sddmm.hpp"

#include "sparse/vector/vector.hpp"
#include "tests/spmm/narrow_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Sddmm = OnBackendAndScalar;

/// C = alpha (op_a(A) op_b(B)) at C's places + beta C, entry by entry in double precision.
template <class T, class Offset>
void expect_dots(Op op_a, Op op_b, T alpha, const Dense<T>& A, const Dense<T>& B, T beta, const Csr<T, Offset>& before,
                 const Csr<T, Offset>& C, const std::string& what) {
  const auto a = A.host(), b = B.host();
  const auto at = [](const auto& view, Op op, std::int64_t i, std::int64_t j) {
    const Z entry(op == Op::none ? view.at(i, j) : view.at(j, i));
    return op == Op::adjoint ? std::conj(entry) : entry;
  };
  const std::int64_t inner = op_a == Op::none ? A.cols() : A.rows();
  const auto offsets = C.row_offsets().host();
  for (std::int32_t i = 0; i < C.rows(); ++i)
    for (auto e = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const std::int32_t j = C.col_indices().host()[e];
      const Z old = beta == T(0) ? Z(0) : Z(beta) * Z(before.values().host()[e]);
      Z sum = 0;
      double size = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const Z term = at(a, op_a, i, k) * at(b, op_b, k, j);
        sum += term, size += modulus(term);
      }
      const double bound =
          4 * epsilon<T>() * (static_cast<double>(inner + 4) * std::abs(Z(alpha)) * size + std::abs(old));
      ASSERT_LE(modulus(Z(C.values().host()[e]) - (Z(alpha) * sum + old)), bound)
          << what << ", entry " << i << ", " << j;
    }
}

template <class T>
Dense<T> operand(std::uint64_t seed, std::int64_t rows, std::int64_t cols, Op op, Order order, std::int64_t padding) {
  return op == Op::none ? random_dense<T>(seed, rows, cols, order, padding)
                        : random_dense<T>(seed, cols, rows, order, padding);
}

/// Lines that suit 16 bytes and such that do not, shorter and longer than lanes hold.
TEST_P(Sddmm, follows_its_formula_for_every_shape_width_order_and_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], factor = random_vector<T>(2, 1)[0];
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> before = random_csr<T>(31, shape);
      const auto wide_before = random_csr<T, std::int64_t>(31, shape);
      for (const std::int64_t k : {0, 1, 3, 4, 8, 17, 32, 33, 128, 700}) {
        if (k > 33 && before.nnz() > 3'000) continue;
        if (k > 8 && before.nnz() > 20'000) continue;
        for (const Order of_a : orders)
          for (const Order of_b : orders) {
            const std::int64_t padding = k % 3;
            const Op op_a = ops[k % 3], op_b = ops[(k + 1) % 3];
            const T beta = k % 2 ? factor : T(0);
            const auto A = operand<T>(3, before.rows(), k, op_a, of_a, padding);
            const auto B = operand<T>(4, k, before.cols(), op_b, of_b, padding);
            Csr<T> C = before.clone();
            sddmm<T>(ctx, op_a, op_b, alpha, A, B, beta, C);
            expect_dots(op_a, op_b, alpha, A, B, beta, before, C, shape.name + std::string(", ") + std::to_string(k));
            auto wide = wide_before.clone();
            sddmm<T>(ctx, op_a, op_b, alpha, A, B, beta, wide);
            expect_dots(op_a, op_b, alpha, A, B, beta, wide_before, wide, shape.name);
          }
      }
    }
  });
}

/// The catalogue's vector: a stored zero belongs to the pattern, and columns need no order.
TEST_P(Sddmm, TV_SDDMM) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto array = [](std::vector<double> values) {
      return Array<T>(std::vector<T>(values.begin(), values.end()));
    };
    const Dense<T> A(3, 2, array({1, 2, 3, 4, 5, 6}), Order::row_major);
    const Dense<T> B(2, 3, array({1, 0, 2, 0, 1, 3}), Order::row_major);
    Csr<T> C(3, Array<std::int32_t>{0, 2, 3, 5}, Array<std::int32_t>{0, 2, 1, 0, 2}, array({10, 20, 30, 40, 0}));
    Csr<T> turned(3, Array<std::int32_t>{0, 2, 3, 5}, Array<std::int32_t>{2, 0, 1, 2, 0}, array({20, 10, 30, 0, 40}));
    sddmm<T>(ctx, Op::none, Op::none, T(2), A, B, T(0.5), C);
    EXPECT_EQ(contents(C.values()), contents(array({7, 26, 23, 30, 56})));
    sddmm<T>(ctx, Op::none, Op::none, T(2), A, B, T(0.5), turned);
    EXPECT_EQ(contents(turned.values()), contents(array({26, 7, 23, 56, 30})));
  });
}

/// Each entry stands for itself, also where a row has its column twice.
TEST_P(Sddmm, takes_columns_that_are_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dense<T> A(1, 2, Array<T>{T(2), T(3)}), B(2, 2, Array<T>{T(1), T(4), T(5), T(6)});
    Csr<T> C(2, Array<std::int32_t>{0, 3}, Array<std::int32_t>{1, 0, 1}, Array<T>{T(1), T(2), T(3)});
    sddmm<T>(ctx, Op::none, Op::none, T(1), A, B, T(2), C);
    EXPECT_EQ(contents(C.values()), (std::vector<T>{T(30), T(18), T(34)}));
  });
}

TEST_P(Sddmm, beta_zero_overwrites_nan_and_scalars_may_lie_on_the_device) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> C = random_csr<T>(33, nasty_shapes()[6]);
    for (T& value : C.values().edit()) value = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    Csr<T> D = C.clone();
    const auto A = random_dense<T>(3, C.rows(), 12, Order::row_major), B = random_dense<T>(4, 12, C.cols(), orders[0]);
    const Array<T> two{T(2)}, zero{T(0)};
    sddmm<T>(ctx, Op::none, Op::none, T(2), A, B, T(0), C);
    sddmm<T>(ctx, Op::none, Op::none, two, A, B, zero, D);
    expect_dots(Op::none, Op::none, T(2), A, B, T(0), C, C, "host scalars");
    EXPECT_EQ(contents(C.values()), contents(D.values()));
  });
}

TEST_P(Sddmm, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Order order : orders) {
      Csr<T> C = random_csr<T>(33, nasty_shapes()[6]), again = C.clone();
      const auto A = random_dense<T>(3, C.rows(), 12, Order::row_major), B = random_dense<T>(4, 12, C.cols(), order);
      const auto other = random_dense<T>(5, 12, C.cols(), order);
      replay(ctx, [&] { sddmm<T>(ctx, Op::none, Op::none, T(2), A, B, T(0), C); });
      sddmm<T>(ctx, Op::none, Op::none, T(2), A, B, T(0), again);
      EXPECT_EQ(contents(C.values()), contents(again.values()));
      run_skipped(ctx, [&] { sddmm<T>(ctx, Op::none, Op::none, T(2), A, other, T(0), C); });
      EXPECT_EQ(contents(C.values()), contents(again.values()));
    }
  });
}

TEST_P(Sddmm, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> C = random_csr<T>(33, nasty_shapes()[6]);  // 1000 x 900
    const Dense<T> A(1000, 4), B(4, 900), low(999, 4), thin(3, 900), narrow(4, 899);
    const auto expect = [&](Op op_a, const Dense<T>& a, const Dense<T>& b) {
      EXPECT_THROW(sddmm<T>(ctx, op_a, Op::none, T(1), a, b, T(0), C), ShapeMismatch);
    };
    expect(Op::none, low, B);
    expect(Op::none, A, thin);
    expect(Op::none, A, narrow);
    expect(Op::transpose, A, B);
    EXPECT_NO_THROW(sddmm<T>(ctx, Op::none, Op::none, T(1), A, B, T(0), C));
  });
}

INSTANTIATE_TEST_SUITE_P(, Sddmm, backends_and_scalars, param_name);

using NarrowSddmm = OnBackend;

template <class F>
void for_narrow_dots(F&& f) {
  f(Half()), f(BFloat16()), f(Complex<Half>());
}

/// The pattern of a matrix, with narrow values.
template <class T>
Csr<T> narrow_values(const Csr<float>& A, std::uint64_t seed) {
  return {A.cols(), A.row_offsets().clone(), A.col_indices().clone(), Array(random_numbers<T>(seed, A.nnz()))};
}

/// As expect_dots(), with one rounding to T at the end.
template <class T>
void expect_narrow_dots(Op op_a, Op op_b, Z alpha, const Dense<T>& A, const Dense<T>& B, Z beta, const Csr<T>& before,
                        const Csr<T>& C, const std::string& what) {
  const auto offsets = C.row_offsets().host();
  const auto at = [](const Dense<T>& m, Op op, std::int64_t i, std::int64_t j) {
    const Z entry = judged(op == Op::none ? m.host().at(i, j) : m.host().at(j, i));
    return op == Op::adjoint ? std::conj(entry) : entry;
  };
  const std::int64_t inner = op_a == Op::none ? A.cols() : A.rows();
  for (std::int32_t i = 0; i < C.rows(); ++i)
    for (auto e = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const Z old = beta == Z(0) ? Z(0) : beta * judged(before.values().host()[e]);
      Z sum = 0;
      double size = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const Z term = at(A, op_a, i, k) * at(B, op_b, k, C.col_indices().host()[e]);
        sum += term, size += std::abs(term);
      }
      const Z wanted = alpha * sum + old;
      const double sums =
          4 * epsilon<float>() * (static_cast<double>(inner + 4) * std::abs(alpha) * size + std::abs(old));
      const double bound = sums + Rounding<T>::epsilon * (std::abs(wanted) + sums) + Rounding<T>::least;
      ASSERT_LE(std::abs(judged(C.values().host()[e]) - wanted), bound) << what << ", entry " << e;
    }
}

/// The lengths of dots go beyond what one launch takes at a time: still there is one rounding.
TEST_P(NarrowSddmm, follows_its_formula_and_rounds_once) {
  Context ctx = context();
  for_narrow_dots([&]<class T>(T) {
    using Factor = dot_scalar_t<T>;
    const Factor alpha(0.75f), factor(-1.5f);
    for (const int at : {2, 6, 7}) {
      const Shape& shape = nasty_shapes()[static_cast<std::size_t>(at)];
      const Csr<T> before = narrow_values<T>(random_csr<float>(31, shape), 32);
      for (const std::int64_t k : {0, 1, 7, 8, 17, 32, 128, 136, 1100}) {
        if (k * before.nnz() > 600'000) continue;
        for (const Order of_a : orders)
          for (const Order of_b : orders) {
            const Op op_a = ops[k % 3], op_b = ops[(k + 1) % 3];
            const Factor beta = k % 2 ? factor : Factor(0);
            const std::int64_t rows = before.rows(), cols = before.cols(), padding = k % 16 == 0 ? 0 : k % 3;
            const auto A =
                random_numbers_in<T>(3, op_a == Op::none ? rows : k, op_a == Op::none ? k : rows, of_a, padding);
            const auto B =
                random_numbers_in<T>(4, op_b == Op::none ? k : cols, op_b == Op::none ? cols : k, of_b, padding);
            Csr<T> C = before.clone();
            if (beta == Factor(0)) std::ranges::fill(C.values().edit(), not_a_number<T>());
            sddmm(ctx, op_a, op_b, alpha, A, B, beta, C);
            expect_narrow_dots(op_a, op_b, Z(alpha), A, B, Z(beta), before, C, shape.name + ", " + std::to_string(k));
          }
      }
    }
  });
}

TEST_P(NarrowSddmm, can_be_captured_and_skipped) {
  Context ctx = context();
  for_narrow_dots([&]<class T>(T) {
    Csr<T> C = narrow_values<T>(random_csr<float>(33, nasty_shapes()[6]), 34), again = C.clone();
    const auto A = random_numbers_in<T>(3, C.rows(), 12, Order::row_major, 0);
    const auto B = random_numbers_in<T>(4, 12, C.cols(), Order::row_major, 0);
    const auto bits = [](const Csr<T>& m) { return judged(contents(m.values())); };
    replay(ctx, [&] { sddmm(ctx, Op::none, Op::none, 2, A, B, 0, C); });
    sddmm(ctx, Op::none, Op::none, 2, A, B, 0, again);
    EXPECT_EQ(bits(C), bits(again));
    run_skipped(ctx, [&] { sddmm(ctx, Op::none, Op::none, 3, A, B, 1, C); });
    EXPECT_EQ(bits(C), bits(again));
  });
}

INSTANTIATE_TEST_SUITE_P(, NarrowSddmm, backends, param_name);

}  // namespace
}  // namespace krill::test
