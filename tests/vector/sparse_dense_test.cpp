#include "sparse/vector/sparse_dense.hpp"

#include "sparse/convert/base.hpp"
#include "sparse/vector/sparse_dense_passes.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

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

/// The vector of TV-L1.
template <class T>
SparseVector<T> printed() {
  return {4, Array<std::int32_t>{0, 1, 3}, Array<T>(numbers<T>({100, 200, 400}))};
}
template <class T>
Array<T> printed_dense() {
  return Array<T>(numbers<T>({10, 20, 30, 40}));
}

/// Trap 20: the rotation keeps the old x_k for y, and axpby scales all of y, also where x has no entry.
TEST_P(SparseDense, TV_VEC_and_TV_L1_and_trap_20_rotates_and_scales_as_is_meant) {
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
    check([&](auto& a, auto& b) { axpby(ctx, T(2), a, T(0), b); }, x, numbers<T>({200, 400, 0, 800}));
    check([&](auto& a, auto& b) { gather(ctx, b, a); }, numbers<T>({10, 20, 40}), y);
    check([&](auto& a, auto& b) { gather_and_clear(ctx, b, a); }, numbers<T>({10, 20, 40}), numbers<T>({0, 0, 30, 0}));
    check([&](auto& a, auto& b) { scatter(ctx, a, b); }, x, numbers<T>({100, 200, 30, 400}));
    check([&](auto& a, auto& b) { rotate(ctx, a, b, T(3), T(4)); }, numbers<T>({340, 680, 1360}),
          numbers<T>({-370, -740, 30, -1480}));
    SparseVector<T> turned = printed<T>();
    Array<T> turned_y = printed_dense<T>();
    const auto fifths = [](int n) { return T(static_cast<real_t<T>>(n) / static_cast<real_t<T>>(5)); };
    rotate(ctx, turned, turned_y, fifths(3), fifths(4));
    const double x_expected[] = {68, 136, 272}, y_expected[] = {-74, -148, 30, -296};
    for (std::size_t k = 0; k < 3; ++k)  // three roundings, of terms of up to 320
      EXPECT_NEAR(std::abs(Z(turned.values().host()[k]) - x_expected[k]), 0, 3 * 320 * epsilon<T>());
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(std::abs(Z(turned_y.host()[i]) - y_expected[i]), 0, 3 * 320 * epsilon<T>());
    check([&](auto& a, auto& b) { to_dense(ctx, a, b); }, x, numbers<T>({100, 200, 0, 400}));
    Array<wide_t<T>> result(1);
    dot(ctx, printed<T>(), printed_dense<T>(), result);
    EXPECT_EQ(result.host()[0], wide_t<T>(21000));
    const SparseVector<T> found = to_sparse_vector(ctx, Array<T>(numbers<T>({1, 0, 0, 2, 3, 0, 4})));
    EXPECT_EQ(entries(found.indices()), (std::vector<std::int32_t>{0, 3, 4, 6}));
    EXPECT_EQ(entries(found.values()), numbers<T>({1, 2, 3, 4}));
    EXPECT_EQ(found.size(), 7);
    EXPECT_EQ(entries(to_base_one(ctx, found.indices())), (std::vector<std::int32_t>{1, 4, 5, 7}));
    Array<T> dense(7);
    to_dense(ctx, SparseVector<T>(7, from_base_one(ctx, Array<std::int32_t>{1, 4, 5, 7}), found.values().clone()),
             dense);
    EXPECT_EQ(entries(dense), numbers<T>({1, 0, 0, 2, 3, 0, 4}));
  });
}

/// The kernels on a view whose indices count from one do what the doors do with those from zero.
TEST_P(SparseDense, kernels_take_indices_from_one) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    constexpr std::int32_t n = 5'000;
    std::vector<std::int32_t> from_zero, from_one;
    for (std::int32_t i = 2; i < n; i += 1 + i % 5) from_zero.push_back(i), from_one.push_back(i + 1);
    const auto nnz = static_cast<std::int32_t>(from_one.size());
    const Array<std::int32_t> indices(from_one);
    const auto xs = random_vector<T>(1, nnz), ys = random_vector<T>(2, n);
    const auto check = [&](const auto& door, const auto& kernel) {
      SparseVector<T> x(n, Array<std::int32_t>(from_zero), Array<T>(xs));
      Array<T> y(ys), values(xs), other(ys);
      door(x, y);
      ctx.dispatch([&](const auto& where) {
        const SparseVectorView<K> view{n, nnz, indices.read(where), values.update(where), IndexBase::one};
        kernel(where, view, SparseVectorView<const K>{n, nnz, view.indices, view.values, IndexBase::one},
               other.update(where));
      });
      EXPECT_EQ(entries(values), entries(x.values()));
      EXPECT_EQ(entries(other), entries(y));
    };
    using namespace detail;
    check([&](auto& x, auto& y) { gather(ctx, y, x); },
          [&](const auto& where, const auto& x, const auto&, K* y) {
            run_entries(where, nnz, GatherEntries<K>{x, y});
          });
    check([&](auto& x, auto& y) { gather_and_clear(ctx, y, x); },
          [&](const auto& where, const auto& x, const auto& old, K* y) {
            run_entries(where, nnz, GatherEntries<K>{x, y});
            run_entries(where, nnz, ClearEntries<K>{old, y});
          });
    check([&](auto& x, auto& y) { scatter(ctx, x, y); },
          [&](const auto& where, const auto&, const auto& x, K* y) {
            run_entries(where, nnz, ScatterEntries<K>{x, y});
          });
    check([&](auto& x, auto& y) { axpby(ctx, T(2), x, T(1), y); },
          [&](const auto& where, const auto&, const auto& x, K* y) {
            run_entries(where, nnz, AddEntries<K>{{K(2)}, x, y});
          });
    check([&](auto& x, auto& y) { rotate(ctx, x, y, T(3), T(4)); },
          [&](const auto& where, const auto& x, const auto&, K* y) {
            run_entries(where, nnz, RotateEntries<K>{{K(3)}, {K(4)}, x, y});
          });
    Array<wide_t<T>> expected(1), found(1);
    dot(ctx, SparseVector<T>(n, Array<std::int32_t>(from_zero), Array<T>(xs)), Array<T>(ys), expected);
    const Array<T> values(xs), y(ys);
    ctx.dispatch([&](const auto& where) {
      const SparseVectorView<const K> x{n, nnz, indices.read(where), values.read(where), IndexBase::one};
      run_pass(where, nnz, DotEntries<K>{x, y.read(where), true, found.write(where)});
    });
    EXPECT_EQ(found.host()[0], expected.host()[0]);
  });
}

/// Each operation from a graph that is replayed, with what the last round left, and with a reason that skips it.
TEST_P(SparseDense, can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int64_t n = 4'000;
    std::vector<std::int32_t> at;
    for (std::int32_t i = 1; i < n; i += 3) at.push_back(i);
    const auto nnz = std::ssize(at);
    const auto xs = random_vector<T>(1, nnz), ys = random_vector<T>(2, n), zs = random_vector<T>(3, n);
    const Array<T> source(zs), two{T(2)};
    SparseVector<T> x(n, Array<std::int32_t>(at), Array<T>(xs)), gathered(n, Array<std::int32_t>(at), Array<T>(nnz));
    Array<T> y(ys), z(zs), dense(n);
    Array<wide_t<T>> result(1);
    const auto body = [&] {  // the same in every round
      scatter(ctx, x, y);
      axpby(ctx, two, x, T(0), z);
      axpby(ctx, T(3), x, T(1), z);
      gather(ctx, source, gathered);
      rotate(ctx, gathered, z, T(3), T(4));
      to_dense(ctx, x, dense);
      dot(ctx, x, source, result);
      gather_and_clear(ctx, z, gathered);
    };
    const auto expect = [&](const std::string& what) {
      Z sum = 0;
      double size = 0;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const auto i = static_cast<std::size_t>(at[k]);
        const Z term = std::conj(Z(xs[k])) * Z(zs[i]), left = 15.0 * Z(xs[k]) - 4.0 * Z(zs[i]);
        sum += term, size += std::abs(term);
        ASSERT_EQ(y.host()[i], xs[k]) << what;
        ASSERT_EQ(dense.host()[i], xs[k]) << what;
        ASSERT_EQ(z.host()[i], T(0)) << what;
        ASSERT_LE(std::abs(Z(gathered.values().host()[k]) - left), 8 * 32 * epsilon<T>()) << what;
      }
      EXPECT_LE(std::abs(Z(result.host()[0]) - sum), epsilon<double>() * static_cast<double>(nnz) * size) << what;
      ASSERT_EQ(y.host()[0], ys[0]);
      ASSERT_EQ(dense.host()[0], T(0));
      ASSERT_EQ(z.host()[0], T(0));
    };
    replay(ctx, body);
    expect("replayed");
    Array<T> other(zs);
    SparseVector<T> kept(n, Array<std::int32_t>(at), Array<T>(xs));
    ctx.dispatch([&](const auto& where) { other.read(where), kept.view(where); });
    run_skipped(ctx, [&] {
      scatter(ctx, gathered, other), axpby(ctx, T(2), x, T(3), other), gather(ctx, y, kept);
      rotate(ctx, kept, other, T(3), T(4)), gather_and_clear(ctx, other, kept), to_dense(ctx, x, other);
      dot(ctx, x, y, result);
    });
    EXPECT_EQ(entries(other), zs);
    EXPECT_EQ(entries(kept.values()), xs);
    expect("skipped");
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

using SparseVectorDot = OnBackend;
TEST_P(SparseVectorDot, TV_SPVV_C_conjugates_where_it_is_asked_to) {
  using T = std::complex<double>;
  Context ctx = context();
  const SparseVector<T> x(3, Array<std::int32_t>{0, 2}, Array<T>{T(1, 2), T(3, -1)});
  const Array<T> y{T(1, 1), T(5, 5), T(2, 3)};
  Array<T> result(1);
  dot(ctx, x, y, result, Op::none);
  EXPECT_EQ(result.host()[0], T(8, 10));
  dot(ctx, x, y, result, Op::adjoint);
  EXPECT_EQ(result.host()[0], T(6, 10));
}

INSTANTIATE_TEST_SUITE_P(, SparseDense, backends_and_scalars, param_name);
INSTANTIATE_TEST_SUITE_P(, SparseVectorDot, backends, param_name);

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
