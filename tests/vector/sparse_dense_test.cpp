#include "sparse/vector/sparse_dense.hpp"

#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using SparseDense = OnBackendAndScalar;

template <class T>
std::vector<T> numbers(std::initializer_list<int> values) {
  return {values.begin(), values.end()};
}
template <class T>
std::vector<T> entries(const Array<T>& v) {
  return {v.host().begin(), v.host().end()};
}

/// The vectors that the manual prints (TV-VEC, TV-L1).
template <class T>
SparseVector<T> printed() {
  return {4, Array<std::int32_t>{0, 1, 3}, Array<T>(numbers<T>({100, 200, 400}))};
}
template <class T>
Array<T> printed_dense() {
  return Array<T>(numbers<T>({10, 20, 30, 40}));
}

TEST_P(SparseDense, does_what_the_manual_prints) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto check = [&](auto&& use, const std::vector<T>& x_after, const std::vector<T>& y_after) {
      SparseVector<T> x = printed<T>();
      Array<T> y = printed_dense<T>();
      use(x, y);
      EXPECT_EQ(entries(x.values()), x_after);
      EXPECT_EQ(entries(y), y_after);
    };
    const auto x = numbers<T>({100, 200, 400}), y = numbers<T>({10, 20, 30, 40});
    check([&](auto& a, auto& b) { axpby(ctx, T(2), a, T(1), b); }, x, numbers<T>({210, 420, 30, 840}));
    check([&](auto& a, auto& b) { axpby(ctx, T(2), a, T(3), b); }, x, numbers<T>({230, 460, 90, 920}));
    check([&](auto& a, auto& b) { gather(ctx, b, a); }, numbers<T>({10, 20, 40}), y);
    check([&](auto& a, auto& b) { gather_and_clear(ctx, b, a); }, numbers<T>({10, 20, 40}), numbers<T>({0, 0, 30, 0}));
    check([&](auto& a, auto& b) { scatter(ctx, a, b); }, x, numbers<T>({100, 200, 30, 400}));
    check([&](auto& a, auto& b) { rotate(ctx, a, b, T(3), T(4)); }, numbers<T>({340, 680, 1360}),
          numbers<T>({-370, -740, 30, -1480}));
    check([&](auto& a, auto& b) { to_dense(ctx, a, b); }, x, numbers<T>({100, 200, 0, 400}));
    Array<wide_t<T>> result(1);
    dot(ctx, printed<T>(), printed_dense<T>(), result);
    EXPECT_EQ(result.host()[0], wide_t<T>(21000));
    const SparseVector<T> found = to_sparse_vector(ctx, Array<T>(numbers<T>({1, 0, 0, 2, 3, 0, 4})));
    EXPECT_EQ(entries(found.indices()), (std::vector<std::int32_t>{0, 3, 4, 6}));
    EXPECT_EQ(entries(found.values()), numbers<T>({1, 2, 3, 4}));
    EXPECT_EQ(found.size(), 7);
  });
}

TEST_P(SparseDense, follows_its_formulas_on_random_vectors) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{300}, std::int64_t{70'001}}) {
      std::vector<T> dense = random_vector<T>(1, n);
      for (std::size_t i = 0; i < dense.size(); ++i)
        if (i % 7 == 3 || i % 5 == 0) dense[i] = T(0);
      const Array<T> source(dense);
      SparseVector<T> x = to_sparse_vector(ctx, source);
      validate(x);
      Array<T> back(random_vector<T>(2, n));
      to_dense(ctx, x, back);
      EXPECT_EQ(entries(back), dense);

      const std::vector<T> old_x = entries(x.values()), old_y = random_vector<T>(3, n);
      const auto at = entries(x.indices());
      const std::vector<T> factors = random_vector<T>(4, 2);
      const double tolerance = 8 * epsilon<T>();
      Array<T> y(old_y);
      Array<wide_t<T>> adjoint(1), plain(1);
      dot(ctx, x, y, adjoint);
      dot(ctx, x, y, plain, Op::none);
      Z expected_adjoint = 0, expected_plain = 0;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const Z v(old_x[k]), w(old_y[static_cast<std::size_t>(at[k])]);
        expected_adjoint += std::conj(v) * w, expected_plain += v * w;
      }
      EXPECT_NEAR(std::abs(Z(adjoint.host()[0]) - expected_adjoint), 0, 1e-13 * static_cast<double>(n + 1));
      EXPECT_NEAR(std::abs(Z(plain.host()[0]) - expected_plain), 0, 1e-13 * static_cast<double>(n + 1));

      axpby(ctx, factors[0], x, factors[1], y);
      std::vector<Z> expected(old_y.size());
      for (std::size_t i = 0; i < old_y.size(); ++i)
        expected[i] = Z(factors[1]) * Z(old_y[i]) + Z(factors[0]) * Z(dense[i]);
      for (std::size_t i = 0; i < old_y.size(); ++i) ASSERT_NEAR(std::abs(Z(y.host()[i]) - expected[i]), 0, tolerance);

      y = Array<T>(old_y);
      rotate(ctx, x, y, factors[0], factors[1]);
      for (std::size_t k = 0; k < at.size(); ++k) {
        const auto i = static_cast<std::size_t>(at[k]);
        const Z c(factors[0]), s(factors[1]), v(old_x[k]), w(old_y[i]);
        ASSERT_NEAR(std::abs(Z(x.values().host()[k]) - (c * v + s * w)), 0, tolerance) << k;
        ASSERT_NEAR(std::abs(Z(y.host()[i]) - (c * w - s * v)), 0, tolerance) << k;
      }
      for (std::size_t i = 0; i < old_y.size(); ++i)
        if (dense[i] == T(0)) {
          ASSERT_EQ(y.host()[i], old_y[i]) << i;
        }

      gather(ctx, source, x);
      EXPECT_EQ(entries(x.values()), old_x);
    }
  });
}

TEST_P(SparseDense, takes_scalars_from_arrays_and_overwrites_nan_with_a_zero_beta) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T nan = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    const Array<T> two{T(2)}, zero{T(0)};
    Array<T> y(std::vector<T>(4, nan)), z(std::vector<T>(4, nan));
    axpby(ctx, two, printed<T>(), zero, y);
    axpby(ctx, T(2), printed<T>(), T(0), z);
    EXPECT_EQ(entries(y), numbers<T>({200, 400, 0, 800}));
    EXPECT_EQ(entries(z), entries(y));
    Array<T> w = printed_dense<T>();
    SparseVector<T> none(4, Array<std::int32_t>(0), Array<T>(0));
    scatter(ctx, none, w);
    gather_and_clear(ctx, w, none);
    EXPECT_EQ(entries(w), entries(printed_dense<T>()));
  });
}

/// TV-SPVV-C.
TEST(SparseVectorDot, conjugates_where_it_is_asked_to) {
  using T = std::complex<double>;
  Context ctx = Context::host();
  const SparseVector<T> x(3, Array<std::int32_t>{0, 2}, Array<T>{T(1, 2), T(3, -1)});
  const Array<T> y{T(1, 1), T(5, 5), T(2, 3)};
  Array<T> result(1);
  dot(ctx, x, y, result, Op::none);
  EXPECT_EQ(result.host()[0], T(8, 10));
  dot(ctx, x, y, result, Op::adjoint);
  EXPECT_EQ(result.host()[0], T(6, 10));
}

INSTANTIATE_TEST_SUITE_P(, SparseDense, backends_and_scalars, param_name);

std::string fault(std::int64_t size, std::vector<std::int32_t> indices) {
  std::vector<double> values(indices.size(), 1.0);
  try {
    validate(SparseVector<double>(size, Array(std::move(indices)), Array(std::move(values))));
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

TEST(SparseVector, names_index_and_value_of_a_fault) {
  EXPECT_EQ(fault(0, {}), "");
  EXPECT_EQ(fault(4, {0, 1, 3}), "");
  EXPECT_EQ(fault(4, {0, 4}), "sparse vector: indices[1] = 4 lies outside 0 to 3");
  EXPECT_EQ(fault(4, {-1, 2}), "sparse vector: indices[0] = -1 lies outside 0 to 3");
  EXPECT_EQ(fault(4, {2, 1}), "sparse vector: indices[1] = 1 follows 2; indices ascend strictly");
  EXPECT_EQ(fault(4, {1, 1}), "sparse vector: indices[1] = 1 follows 1; indices ascend strictly");
  EXPECT_EQ(fault(-1, {}), "sparse vector: size is -1, 0 to 2147483647 were expected");
  EXPECT_NE(fault(1, {0, 1}), "");
}

TEST(SparseVector, counts_from_one_where_its_view_says_so) {
  const std::vector<std::int32_t> indices{1, 4, 5, 7};
  const std::vector<double> values{1, 2, 3, 4};
  const Context ctx = Context::host();
  const SparseVectorView<const double> view{7, 4, indices.data(), values.data(), IndexBase::one};
  EXPECT_NO_THROW(validate(ctx.host_tag(), view));
  EXPECT_EQ(view.index(3), 6);
  const SparseVectorView<const double> short_view{6, 4, indices.data(), values.data(), IndexBase::one};
  EXPECT_THROW(validate(ctx.host_tag(), short_view), InvalidArgument);
}

TEST(SparseVector, checks_sizes) {
  EXPECT_THROW(SparseVector<double>(3, Array<std::int32_t>{0}, Array<double>(0)), ShapeMismatch);
  Context ctx = Context::host();
  Array<double> y(3);
  SparseVector<double> x(4, Array<std::int32_t>{0}, Array<double>{1.0});
  EXPECT_THROW(gather(ctx, y, x), ShapeMismatch);
  EXPECT_THROW(scatter(ctx, x, y), ShapeMismatch);
  EXPECT_THROW(axpby(ctx, 1.0, x, 1.0, y), ShapeMismatch);
}

}  // namespace
}  // namespace krill::test
