#include "sparse/spmv/spmv.hpp"

#include "sparse/convert/convert.hpp"
#include "sparse/spmv/product.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Spmv = OnBackendAndScalar;

template <class T>
void expect_within(const Array<T>& y, const Product& expected, const std::string& what) {
  ASSERT_EQ(static_cast<std::size_t>(y.size()), expected.y.size()) << what;
  for (std::size_t i = 0; i < expected.y.size(); ++i)
    ASSERT_LE(modulus(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << what << ", entry " << i;
}

/// Every shape, op and combination of scalars, against the judge.
template <class T, class Matrix>
void check_product(Context& ctx, const Matrix& A, const Reference& ref, const std::string& what) {
  for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
    const auto x = random_vector<T>(21, A.cols(op)), y0 = random_vector<T>(22, A.rows(op));
    const T alpha = random_vector<T>(23, 1)[0];
    for (const T beta : {T(0), T(1), random_vector<T>(24, 1)[0]}) {
      const Array<T> ax(x);
      Array<T> y(y0);
      spmv(ctx, op, alpha, A, ax, beta, y);
      expect_within(y, product(op, Z(alpha), ref, to_reference(x), Z(beta), to_reference(y0), epsilon<T>()), what);
    }
  }
}

TEST_P(Spmv, csr_follows_its_formula_for_every_shape_and_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(31, shape);
      check_product<T>(ctx, A, reference(A), shape.name);
    }
  });
}

TEST_P(Spmv, csr_with_64_bit_offsets_and_coo_give_the_same) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T, std::int64_t> A = random_csr<T, std::int64_t>(32, shape);
      check_product<T>(ctx, A, reference(A), shape.name);
      check_product<T>(ctx, to_coo(ctx, A), reference(A), shape.name);
    }
  });
}

TEST_P(Spmv, beta_zero_overwrites_nan_and_scalars_may_lie_on_the_device) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(33, nasty_shapes()[7]);
    const auto x = random_vector<T>(34, A.cols());
    const std::vector<T> nan(static_cast<std::size_t>(A.rows()), T(std::numeric_limits<real_t<T>>::quiet_NaN()));
    const Product expected =
        product(Op::none, 2.0, reference(A), to_reference(x), 0.0, std::vector<Z>(nan.size()), epsilon<T>());
    Array<T> y(nan), z(nan);
    spmv(ctx, Op::none, T(2), A, Array<T>(x), T(0), y);
    const Array<T> two{T(2)}, zero{T(0)};
    spmv(ctx, Op::none, two, A, Array<T>(x), zero, z);
    expect_within(y, expected, "host scalars");
    expect_within(z, expected, "array scalars");
  });
}

TEST_P(Spmv, a_nan_in_x_reaches_only_the_rows_that_have_its_column) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(35, nasty_shapes()[6]);
    auto x = random_vector<T>(36, A.cols());
    constexpr std::int32_t poisoned = 17;
    x[poisoned] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    Array<T> y(A.rows());
    spmv(ctx, Op::none, T(1), A, Array<T>(x), T(0), y);
    std::vector<bool> hit(static_cast<std::size_t>(A.rows()));
    const Reference ref = reference(A);
    for (std::size_t k = 0; k < ref.col.size(); ++k)
      if (ref.col[k] == poisoned) hit[static_cast<std::size_t>(ref.row[k])] = true;
    for (std::size_t i = 0; i < hit.size(); ++i) ASSERT_EQ(std::isnan(std::abs(Z(y.host()[i]))), hit[i]) << i;
  });
}

TEST_P(Spmv, takes_two_dots_in_the_same_pass) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {1, 300, 50'000}) {
      const Csr<T> A = random_dominant<T>(37, n, 6);
      const auto x = random_vector<T>(38, n), w = random_vector<T>(39, n);
      const Array<T> ax(x), aw(w);
      Array<T> y(n);
      Array<wide_t<T>> first(1), second(1);
      const auto expect_dots = [&](const std::vector<T>& a, const std::vector<T>& b) {
        const std::vector<T> got(y.host().begin(), y.host().end());
        const auto dot = [&](const std::vector<T>& left) {
          std::complex<long double> sum = 0;
          for (std::size_t i = 0; i < left.size(); ++i)
            sum += std::conj(std::complex<long double>(Z(left[i]))) * std::complex<long double>(Z(got[i]));
          return Z(sum);
        };
        EXPECT_LE(std::abs(Z(first.host()[0]) - dot(a)), 1e-13 * n);
        EXPECT_LE(std::abs(Z(second.host()[0]) - dot(b)), 1e-13 * n);
      };
      spmv(ctx, Op::none, T(1), A, ax, T(0), y, {&ax, &first, &aw, &second});
      expect_dots(x, w);
      spmv(ctx, Op::none, T(1), A, ax, T(0), y, {&aw, &first, &y, &second});
      expect_dots(w, std::vector<T>(y.host().begin(), y.host().end()));
    }
  });
}

TEST_P(Spmv, gives_the_same_bits_every_time) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(40, nasty_shapes().back());
    const Array<T> x(random_vector<T>(41, A.cols()));
    for (const Op op : {Op::none, Op::transpose}) {
      Array<T> y(A.rows(op)), again(A.rows(op));
      Array<wide_t<T>> dot(1), dot_again(1);
      spmv(ctx, op, T(1), A, x, T(0), y, {&x, &dot});
      for (int i = 0; i < 10; ++i) {
        spmv(ctx, op, T(1), A, x, T(0), again, {&x, &dot_again});
        ASSERT_TRUE(std::ranges::equal(y.host(), again.host()));
        ASSERT_EQ(dot.host()[0], dot_again.host()[0]);
      }
      if (ctx.on_cuda()) continue;
      Context one = Context::host(1);
      spmv(one, op, T(1), A, x, T(0), again, {&x, &dot_again});
      EXPECT_TRUE(std::ranges::equal(y.host(), again.host()));
      EXPECT_EQ(dot.host()[0], dot_again.host()[0]);
    }
  });
}

TEST_P(Spmv, one_based_views_are_honoured) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(42, nasty_shapes()[6]);
    std::vector<std::int32_t> offsets(A.row_offsets().host().begin(), A.row_offsets().host().end()),
        columns(A.col_indices().host().begin(), A.col_indices().host().end());
    for (auto& offset : offsets) ++offset;
    for (auto& column : columns) ++column;
    const Array<std::int32_t> one_offsets(offsets), one_columns(columns);
    const auto x = random_vector<T>(43, A.cols());
    const Array<T> ax(x);
    Array<T> y(A.rows());
    ctx.dispatch([&](const auto& where) {
      using K = kernel_t<T>;
      const krill::Product<CsrView<const K>> one_based{
          {K(1)},
          {A.rows(), A.cols(), A.nnz(), one_offsets.read(where), one_columns.read(where), A.values().read(where),
           IndexBase::one},
          ax.read(where),
          {K(0)},
          y.write(where),
          {}};
      run_product(where, one_based);
    });
    expect_within(y,
                  product(Op::none, 1.0, reference(A), to_reference(x), 0.0,
                          std::vector<Z>(static_cast<std::size_t>(A.rows())), epsilon<T>()),
                  "one-based");
  });
}

TEST_P(Spmv, does_nothing_where_the_skip_is_raised) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(44, nasty_shapes()[6]);
    const Array<T> x(random_vector<T>(45, A.cols()));
    const auto y0 = random_vector<T>(46, A.rows());
    Array<T> y(y0);
    Array<Reason> reason{Reason::converged};
    ctx.dispatch([&](const auto& where) {
      const Context::SkipScope scope(ctx, reason.read(where));
      spmv(ctx, Op::none, T(1), A, x, T(1), y);
      spmv(ctx, Op::none, T(1), to_coo(ctx, A), x, T(1), y);
    });
    EXPECT_TRUE(std::ranges::equal(y.host(), y0));
  });
}

TEST_P(Spmv, refuses_wrong_shapes_and_aliases_by_name) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(47, nasty_shapes()[6]);  // 1000 x 900
    Array<T> x(std::vector<T>(900)), y(std::vector<T>(1000));
    const auto text = [&](auto&& f) { return complaint<ShapeMismatch>(f); };
    EXPECT_EQ(text([&] { spmv(ctx, Op::transpose, T(1), A, x, T(0), y); }), "spmv: x has 900 entries, 1000 are needed");
    EXPECT_EQ(text([&] { spmv(ctx, Op::none, T(1), A, x, T(0), x); }), "spmv: y has 900 entries, 1000 are needed");
    const Csr<T> S = random_dominant<T>(48, 900, 3);
    EXPECT_EQ(complaint<InvalidArgument>([&] { spmv(ctx, Op::none, T(1), S, x, T(0), x); }),
              "spmv: x and y must not be the same array");
    Array<wide_t<T>> two(2);
    EXPECT_EQ(text([&] {
                spmv(ctx, Op::none, T(1), A, x, T(0), y, {&y, &two});
              }),
              "spmv: the result of a dot product has 2 entries, 1 are needed");
  });
}

INSTANTIATE_TEST_SUITE_P(, Spmv, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
