#include "sparse/io/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace krill {
namespace {

/// Whether |decimal number| >= 1, by the place of its first digit other than 0.
bool is_large(std::string_view number) {
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  std::int64_t exponent = 0;
  if (mark < number.size()) {
    const char* first = number.data() + mark + 1;
    if (*first == '+') ++first;
    const auto [last, status] = std::from_chars(first, number.data() + number.size(), exponent);
    if (status != std::errc()) return *first != '-';
  }
  const std::string_view digits = number.substr(0, mark);
  const std::size_t lead = digits.find_first_of("123456789");
  if (lead == digits.npos) return false;
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  // |number| >= 1 exactly where exponent > lead - point (the first digit stands that far behind the point) - 1.
  const std::int64_t behind = static_cast<std::int64_t>(lead) - point;
  return exponent >= (behind > 0 ? behind : behind + 1);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 40;
  return fmt::format("\"{}{}\"", visible(text.substr(0, most)), text.size() > most ? "..." : "");
}

std::string visible(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return result;
}

template <class R>
const char* parse_any_real(const char* p, const char* end, R& value) {
  const std::string_view token = token_at(p, end);
  if (token.starts_with("+-")) return nullptr;
  std::string number(token.starts_with('+') ? token.substr(1) : token);
  std::replace_if(
      number.begin(), number.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  const char* number_end = number.data() + number.size();
  const auto [last, status] = std::from_chars(number.data(), number_end, value);
  if (last != number_end || status == std::errc::invalid_argument) return nullptr;
  if (status == std::errc::result_out_of_range) {
    value = is_large(number) ? std::numeric_limits<R>::infinity() : R(0);
    if (number.starts_with('-')) value = -value;
  }
  return token.data() + token.size();
}

template const char* parse_any_real(const char*, const char*, float&);
template const char* parse_any_real(const char*, const char*, double&);

}  // namespace krill
