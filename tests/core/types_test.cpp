#include "sparse/core/types.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "sparse/core/array.hpp"
#include "sparse/core/config.hpp"

namespace krill {
namespace {

TEST(Complex, has_the_layout_of_std_complex) {
  const std::complex<double> theirs(1.5, -2.5);
  const auto ours = std::bit_cast<Complex<double>>(theirs);
  EXPECT_EQ(ours.re, 1.5);
  EXPECT_EQ(ours.im, -2.5);
}

TEST(Complex, agrees_with_std_complex) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (int i = 0; i < 1000; ++i) {
    const std::complex<double> a(uniform(engine), uniform(engine)), b(uniform(engine), uniform(engine));
    const auto A = std::bit_cast<Complex<double>>(a), B = std::bit_cast<Complex<double>>(b);
    const auto near = [](std::complex<double> x, Complex<double> y) {
      return std::abs(x - std::complex<double>(y.re, y.im)) <= 8e-16 * std::abs(x) + 1e-300;
    };
    EXPECT_TRUE(near(a * b, A * B));
    EXPECT_TRUE(near(a / b, A / B));
    EXPECT_TRUE(near(a - b, A - B));
    EXPECT_TRUE(near(std::conj(a), conj(A)));
    EXPECT_NEAR(std::norm(a), squared(A), 1e-15 * std::norm(a));
  }
}

TEST(Complex, division_does_not_overflow_where_the_quotient_is_representable) {
  const Complex<double> q = Complex<double>(1e300, 1e300) / Complex<double>(1e300, 1e300);
  EXPECT_EQ(q.re, 1);
  EXPECT_EQ(q.im, 0);
  const Complex<double> zero_real = Complex<double>(0, 4) / Complex<double>(0, 2);
  EXPECT_EQ(zero_real.re, 2);
}

TEST(Scalars, know_what_is_finite) {
  EXPECT_TRUE(is_finite(1.0));
  EXPECT_FALSE(is_finite(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(is_finite(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(is_finite(Complex<double>(0, std::numeric_limits<double>::quiet_NaN())));
}

TEST(Scalar, holds_a_value_or_names_an_array) {
  const Host host;
  EXPECT_EQ(Scalar<double>(3).read(host)(), 3);
  EXPECT_TRUE(Scalar<double>(0).is_host_zero());
  const Array<double> zero{0.0};
  EXPECT_FALSE(Scalar<double>(zero).is_host_zero());
  EXPECT_EQ(Scalar<double>(zero).read(host)(), 0);
  const Array<double> two{1.0, 2.0};
  EXPECT_THROW(Scalar<double>{two}, ShapeMismatch);
}

TEST(Version, is_made_of_its_numbers) {
  EXPECT_EQ(version, fmt::format("{}.{}.{}", version_major, version_minor, version_patch));
}

}  // namespace
}  // namespace krill
