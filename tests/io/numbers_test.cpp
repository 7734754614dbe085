#include "sparse/io/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace krill {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class R = double>
R real(std::string_view token) {
  R value = 77;
  EXPECT_NE(parse_real(token.data(), token.data() + token.size(), value), nullptr) << token;
  return value;
}
bool is_real(std::string_view token) {
  double value;
  return parse_real(token.data(), token.data() + token.size(), value) != nullptr;
}

TEST(Numbers, reads_every_spelling_of_a_decimal_number) {
  EXPECT_EQ(real("1"), 1);
  EXPECT_EQ(real("-.5"), -0.5);
  EXPECT_EQ(real("+1."), 1);
  EXPECT_EQ(real("1E+0002"), 100);
  EXPECT_EQ(real("007"), 7);
  EXPECT_EQ(real("0.1"), 0.1);
  EXPECT_TRUE(std::signbit(real("-0")));
}

TEST(Numbers, reads_fortran_exponents) {
  EXPECT_EQ(real("1.5D+02"), 150);
  EXPECT_EQ(real("-3.0d-1"), -0.3);
  EXPECT_EQ(real("4.D0"), 4);
}

TEST(Numbers, reads_nan_and_infinities) {
  EXPECT_TRUE(std::isnan(real("NaN")));
  EXPECT_TRUE(std::isnan(real("-nan")));
  EXPECT_EQ(real("inf"), infinity);
  EXPECT_EQ(real("-Infinity"), -infinity);
  EXPECT_EQ(real("+INF"), infinity);
}

TEST(Numbers, rounds_to_nearest_even) {
  EXPECT_EQ(real("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(real("9007199254740993.00000000000000000000000000001"), 9007199254740994.0);
  EXPECT_EQ(real("2.2250738585072011e-308"), 2.2250738585072011e-308);
  EXPECT_EQ(real<float>("16777217"), 16777216.0f);
}

TEST(Numbers, goes_to_the_limits_past_the_range) {
  EXPECT_EQ(real("1e400"), infinity);
  EXPECT_EQ(real("-1E9999"), -infinity);
  EXPECT_EQ(real("1e99999999999999999999"), infinity);
  EXPECT_EQ(real("1e-400"), 0);
  EXPECT_TRUE(std::signbit(real("-1e-400")));
  EXPECT_EQ(real("1e-99999999999999999999"), 0);
  EXPECT_EQ(real("0e999"), 0);
  EXPECT_EQ(real("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(real<float>("1e40"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(real<float>("1e-60"), 0);
  EXPECT_EQ(real<float>("0.000000000000000000000000000000000000000000000000000000000001"), 0);
  EXPECT_EQ(real<float>("100000000000000000000000000000000000000000000000000000000000"),
            std::numeric_limits<float>::infinity());
}

TEST(Numbers, refuses_what_is_no_decimal_number) {
  for (const char* token : {"", "-", "+", "+-1", "-+1", "1,5", "0x1p3", "1.5e", "1.5e+", "e5", "1e5x", "junk", "1.2.3",
                            "d1", ".", "na", "--1"})
    EXPECT_FALSE(is_real(token)) << token;
  EXPECT_FALSE(is_real(std::string_view("1\0", 2)));
}

TEST(Numbers, reads_whole_numbers_only) {
  const auto whole = [](std::string_view token) {
    std::int64_t value = -77;
    return parse_integer(token.data(), token.data() + token.size(), value) ? value : -77;
  };
  EXPECT_EQ(whole("12"), 12);
  EXPECT_EQ(whole("+12"), 12);
  EXPECT_EQ(whole("-3"), -3);
  EXPECT_EQ(whole("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* token : {"", "1.0", "1e3", "9223372036854775808", "+-1", "+", "0x10", "1a"})
    EXPECT_EQ(whole(token), -77) << token;
}

TEST(Numbers, an_index_ends_at_a_blank_or_the_line) {
  const std::string_view text = "12 34\n5";
  std::int64_t value = 0;
  const char* p = parse_index(text.data(), text.data() + text.size(), value);
  EXPECT_EQ(p, text.data() + 2);
  EXPECT_EQ(value, 12);
  p = parse_index(text.data() + 3, text.data() + text.size(), value);
  EXPECT_EQ(p, text.data() + 5);
  EXPECT_EQ(value, 34);
  for (const std::string_view token : {"", "-1", "1.", "1234567890123456789"})
    EXPECT_EQ(parse_index(token.data(), token.data() + token.size(), value), nullptr) << token;
}

TEST(Numbers, shows_text_in_messages_without_control_characters) {
  EXPECT_EQ(in_quotes("a\tb"), "\"a\\x09b\"");
  EXPECT_EQ(in_quotes(std::string(50, 'x')), '"' + std::string(40, 'x') + "...\"");
}

}  // namespace
}  // namespace krill
