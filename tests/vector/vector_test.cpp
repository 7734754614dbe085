#include "sparse/vector/vector.hpp"

#include "sparse/vector/vector_passes.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Vector = OnBackendAndScalar;
constexpr std::int64_t sizes[] = {0, 1, 31, 256, 4097, 100'003};

TEST_P(Vector, axpby_follows_its_formula) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : sizes) {
      const auto x = random_vector<T>(1, n), y = random_vector<T>(2, n);
      const T alpha = random_vector<T>(3, 1)[0], beta = random_vector<T>(4, 1)[0];
      const Array<T> ax(x);
      Array<T> ay(y);
      axpby(ctx, alpha, ax, beta, ay);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const Z expected = Z(alpha) * Z(x[i]) + Z(beta) * Z(y[i]);
        ASSERT_LE(std::abs(Z(ay.host()[i]) - expected),
                  8 * epsilon<T>() * (std::abs(alpha * x[i]) + std::abs(beta * y[i])))
            << "n " << n << ", entry " << i;
      }
    }
  });
}

TEST_P(Vector, a_zero_beta_overwrites_nan_from_either_side) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> x(std::vector<T>(100, T(2)));
    const T nan = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    Array<T> y(std::vector<T>(100, nan)), z(std::vector<T>(100, nan));
    const Array<T> zero{T(0)}, three{T(3)};
    axpby(ctx, T(3), x, T(0), y);
    axpby(ctx, three, x, zero, z);
    EXPECT_EQ(y.host()[99], T(6));
    EXPECT_EQ(z.host()[99], T(6));
  });
}

TEST_P(Vector, dot_conjugates_its_left_operand) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : sizes) {
      const auto x = random_vector<T>(5, n), y = random_vector<T>(6, n);
      Array<wide_t<T>> result(1);
      dot(ctx, Array<T>(x), Array<T>(y), result);
      std::complex<long double> sum = 0;
      long double magnitude = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum += std::conj(std::complex<long double>(Z(x[i]))) * std::complex<long double>(Z(y[i]));
        magnitude += std::abs(Z(x[i])) * std::abs(Z(y[i]));
      }
      const double bound = 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(magnitude) * 40;
      EXPECT_LE(std::abs(Z(result.host()[0]) - Z(sum)), bound) << n;
    }
  });
}

TEST_P(Vector, norm_and_largest_entry) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : sizes) {
      const auto x = random_vector<T>(7, n);
      Array<double> norm(1), most(1);
      norm2(ctx, Array<T>(x), norm);
      max_abs(ctx, Array<T>(x), most);
      long double sum = 0;
      double largest = 0;
      for (const T& v : x) {
        sum += std::norm(std::complex<long double>(Z(v)));
        largest = std::max({largest, std::abs(Z(v).real()), std::abs(Z(v).imag())});
      }
      EXPECT_NEAR(norm.host()[0], static_cast<double>(std::sqrt(sum)), 1e-14 * static_cast<double>(std::sqrt(sum)));
      EXPECT_EQ(most.host()[0], largest);
    }
  });
}

TEST_P(Vector, max_abs_lets_nothing_hide_a_nan) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::size_t place : {std::size_t{0}, std::size_t{777}, std::size_t{9999}}) {
      auto x = random_vector<T>(8, 10'000);
      x[place] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
      Array<double> most(1);
      max_abs(ctx, Array<T>(x), most);
      EXPECT_TRUE(std::isnan(most.host()[0])) << place;
    }
  });
}

TEST_P(Vector, fill_copy_and_multiply) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto x = random_vector<T>(9, 1000), y = random_vector<T>(10, 1000);
    Array<T> a(1000), b(1000), c(1000);
    fill(ctx, T(2), a);
    EXPECT_EQ(a.host()[999], T(2));
    copy(ctx, Array<T>(x), b);
    EXPECT_TRUE(std::ranges::equal(b.host(), x));
    multiply(ctx, b, Array<T>(y), c);
    for (std::size_t i = 0; i < 1000; ++i)
      ASSERT_LE(std::abs(Z(c.host()[i]) - Z(x[i]) * Z(y[i])), 4 * epsilon<T>() * std::abs(Z(x[i]) * Z(y[i])));
  });
}

TEST_P(Vector, sums_are_the_same_bits_every_time) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> x(random_vector<T>(11, 300'000)), y(random_vector<T>(12, 300'000));
    Array<wide_t<T>> result(1);
    dot(ctx, x, y, result);
    const wide_t<T> first = result.host()[0];
    for (int i = 0; i < 20; ++i) {
      dot(ctx, x, y, result);
      ASSERT_EQ(result.host()[0], first);
    }
    if (ctx.on_cuda()) return;
    Context one = Context::host(1);
    dot(one, x, y, result);
    EXPECT_EQ(result.host()[0], first);
  });
}

TEST_P(Vector, nothing_is_written_where_the_skip_is_raised) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> x(random_vector<T>(13, 5000));
    const auto y0 = random_vector<T>(14, 5000);
    Array<T> y(y0);
    Array<wide_t<T>> sum{wide_t<T>(7)};
    Array<double> most{7.0}, norm{7.0};
    Array<Reason> reason{Reason::interrupted};
    ctx.dispatch([&](const auto& where) {
      y.update(where), sum.update(where), most.update(where), norm.update(where);  // on the device, as in a loop
      const Context::SkipScope scope(ctx, reason.read(where));
      fill(ctx, T(1), y);
      axpby(ctx, T(1), x, T(1), y);
      multiply(ctx, x, x, y);
      dot(ctx, x, x, sum);
      norm2(ctx, x, norm);
      max_abs(ctx, x, most);
    });
    EXPECT_TRUE(std::ranges::equal(y.host(), y0));
    EXPECT_EQ(sum.host()[0], wide_t<T>(7));
    EXPECT_EQ(norm.host()[0], 7.0);
    EXPECT_EQ(most.host()[0], 7.0);
  });
}

TEST_P(Vector, sizes_that_differ_are_refused) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> x(std::vector<T>(3));
    Array<T> y(std::vector<T>(4));
    Array<wide_t<T>> result(1);
    EXPECT_THROW(axpby(ctx, T(1), x, T(0), y), ShapeMismatch);
    EXPECT_THROW(dot(ctx, x, y, result), ShapeMismatch);
    Array<wide_t<T>> two(2);
    EXPECT_THROW(dot(ctx, x, x, two), ShapeMismatch);
  });
}

TEST(SquareRoot, is_within_a_unit_of_the_library_and_exact_on_squares) {
  std::mt19937_64 engine(5);
  for (int i = 0; i < 100'000; ++i) {
    const double a =
        std::ldexp(1.0 + static_cast<double>(engine() >> 12) * 0x1p-52, static_cast<int>(engine() % 2000) - 1000);
    ASSERT_NEAR(detail::square_root(a) / std::sqrt(a), 1, 4.5e-16) << a;
  }
  for (double a = 0; a < 1000; ++a) EXPECT_EQ(detail::square_root(a * a), a);
  EXPECT_TRUE(std::isnan(detail::square_root(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isinf(detail::square_root(std::numeric_limits<double>::infinity())));
  EXPECT_NEAR(detail::square_root(5e-324) / std::sqrt(5e-324), 1, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(, Vector, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
