#include "sparse/core/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "sparse/core/types.hpp"

namespace krill {
namespace {

/// What a format of two bytes is by its definition, for a judge in double.
template <class Number>
struct Format;
template <>
struct Format<Half> {
  static constexpr int precision = 11, min_exponent = -14, max_exponent = 15;
};
template <>
struct Format<BFloat16> {
  static constexpr int precision = 8, min_exponent = -126, max_exponent = 127;
};

template <class Number>
double value_by_definition(std::uint16_t bits) {
  using F = Format<Number>;
  constexpr int fraction_bits = F::precision - 1;
  const int fraction = bits & ((1 << fraction_bits) - 1), exponent = (bits & 0x7fff) >> fraction_bits;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == F::max_exponent * 2 + 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, F::min_exponent - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - 1 + F::min_exponent - fraction_bits);
}

/// The nearest number of the format, ties to even: nearbyint() does that where the last place is 1.
template <class Number>
double rounded_by_definition(float value) {
  using F = Format<Number>;
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), F::min_exponent), last_place = exponent - F::precision + 1;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(double{value}, -last_place)), last_place);
  return std::abs(rounded) < std::ldexp(1, F::max_exponent + 1)
             ? rounded
             : std::copysign(std::numeric_limits<double>::infinity(), value);
}

template <class Number>
void expect_rounded(float value) {
  const double expected = rounded_by_definition<Number>(value), found = float(Number(value));
  ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << value << ": " << found;
  ASSERT_EQ(std::signbit(found), std::signbit(value)) << value;
}

bool is_quiet(float nan) { return (std::bit_cast<std::uint32_t>(nan) & 0x7fc00000) == 0x7fc00000; }

template <class Number>
class TwoBytes : public ::testing::Test {};
using Numbers = ::testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(TwoBytes, Numbers);

TYPED_TEST(TwoBytes, have_the_layout_of_two_bytes) {
  EXPECT_EQ(sizeof(TypeParam), 2u);
  EXPECT_EQ(alignof(TypeParam), 2u);
  EXPECT_TRUE(std::is_trivially_copyable_v<TypeParam>);
  EXPECT_TRUE(std::is_standard_layout_v<TypeParam>);
  EXPECT_EQ(sizeof(Complex<TypeParam>), 4u);
}

TYPED_TEST(TwoBytes, widen_exactly_and_come_back_as_they_were) {
  for (std::uint32_t i = 0; i < 65'536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = TypeParam::from_bits(bits);
    const double expected = value_by_definition<TypeParam>(bits);
    const TypeParam back(value);
    ASSERT_EQ(std::signbit(value), bits >> 15) << i;
    if (std::isnan(expected)) {
      ASSERT_TRUE(is_quiet(value)) << i;
      ASSERT_TRUE(is_quiet(back)) << i;
      ASSERT_EQ(back.bits >> 15, bits >> 15) << i;
    } else {
      ASSERT_EQ(value, expected) << i;
      ASSERT_EQ(back.bits, bits) << i;
    }
  }
}

TYPED_TEST(TwoBytes, round_to_nearest_on_both_sides_of_every_tie) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t i = 0; i < 0x7fff; ++i) {
    const double low = value_by_definition<TypeParam>(static_cast<std::uint16_t>(i)),
                 high = value_by_definition<TypeParam>(static_cast<std::uint16_t>(i + 1));
    if (!std::isfinite(high)) break;
    const auto middle = static_cast<float>((low + high) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, infinity)}) {
      expect_rounded<TypeParam>(value);
      expect_rounded<TypeParam>(-value);
    }
  }
}

TYPED_TEST(TwoBytes, round_the_ends_of_the_range) {
  using Float = std::numeric_limits<float>;
  for (const float value : {0.0f,
                            65504.0f,
                            65519.996f,
                            65520.0f,
                            65536.0f,
                            131072.0f,
                            1e30f,
                            Float::max(),
                            std::nextafter(Float::max(), 0.0f),
                            0x1.fefffep127f,
                            0x1.ffp127f,
                            Float::infinity(),
                            0x1p-24f,
                            0x1p-25f,
                            0x1.000002p-25f,
                            0x1p-26f,
                            0x1.ffcp-15f,
                            0x1.ffep-15f,
                            0x1p-14f,
                            Float::min(),
                            Float::denorm_min(),
                            0x1p-133f,
                            0x1p-134f,
                            0x1.8p-133f}) {
    expect_rounded<TypeParam>(value);
    expect_rounded<TypeParam>(-value);
  }
}

TYPED_TEST(TwoBytes, keep_nan_quiet_whatever_its_payload) {
  for (const std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fc00000u, 0x7fffffffu, 0xffffffffu, 0x7f802000u}) {
    const float value = TypeParam(std::bit_cast<float>(bits));
    EXPECT_TRUE(is_quiet(value)) << bits;
    EXPECT_EQ(std::signbit(value), bits >> 31) << bits;
  }
}

TYPED_TEST(TwoBytes, round_random_floats_as_the_definition_says) {
  std::mt19937 engine(11);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    if (!std::isnan(value)) expect_rounded<TypeParam>(value);
    // Most random bits are far outside of the narrow range: the same fraction, with an exponent inside of it.
    const float inside = std::ldexp(1 + float(engine() % (1u << 23)) * 0x1p-23f, int(engine() % 44) - 27);
    expect_rounded<TypeParam>(engine() % 2 ? inside : -inside);
  }
}

TEST(Half, converts_at_compile_time) {
  static_assert(Half(1.0f).bits == 0x3c00);
  static_assert(Half(-2.0f).bits == 0xc000);
  static_assert(Half(65504.0f).bits == 0x7bff);
  static_assert(Half(1e6f).bits == 0x7c00);
  static_assert(Half(0x1p-24f).bits == 1);
  static_assert(Half::from_bits(0x3555) * 3.0f < 1.0f);
  static_assert(BFloat16(1.0f).bits == 0x3f80);
  static_assert(BFloat16(1.00390625f).bits == 0x3f80);  // a tie: to even
  static_assert(BFloat16::from_bits(0xff80) < 0.0f);
}

TEST(Half, makes_a_complex_number) {
  constexpr Complex<Half> z(Half(1.5f), Half(-2.0f));
  constexpr auto wide = Complex<float>(z);
  static_assert(wide == Complex<float>(1.5f, -2.0f));
  static_assert(Complex<Half>(wide).im.bits == 0xc000);
}

}  // namespace
}  // namespace krill
