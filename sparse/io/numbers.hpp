// Numbers as scientific files write them.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace krill {

// What ends a number in a line. The text behind `end` is never looked at.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
constexpr bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
constexpr bool ends_token(const char* p, const char* end) { return p == end || is_blank(*p) || *p == '\n'; }
inline const char* skip_blanks(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  return p;
}
/// The text from p to the next blank or line end.
inline std::string_view token_at(const char* p, const char* end) {
  const char* last = p;
  while (!ends_token(last, end)) ++last;
  return {p, last};
}
/// The text for a message: in quotes, not longer than 40 characters, what cannot be printed as `\xNN`.
std::string in_quotes(std::string_view text);
/// All of it, without quotes: ASCII as it stands, other bytes as \\x and two hexadecimal digits.
std::string visible(std::string_view text);

/// Reads a whole token of at most 18 digits, as indices are. Returns its end, or nullptr.
inline const char* parse_index(const char* p, const char* end, std::int64_t& value) {
  const char* first = p;
  std::uint64_t digits = 0;
  for (; p != end && is_digit(*p); ++p) digits = digits * 10 + static_cast<unsigned char>(*p - '0');
  value = static_cast<std::int64_t>(digits);
  return p != first && p - first <= 18 && ends_token(p, end) ? p : nullptr;
}

/// Reads a whole token [+-]digits. Returns its end, or nullptr where the token is something else or past 64 bits.
inline const char* parse_integer(const char* p, const char* end, std::int64_t& value) {
  if (end - p >= 2 && p[0] == '+' && p[1] != '-') ++p;
  const auto [last, status] = std::from_chars(p, end, value);
  return status == std::errc() && ends_token(last, end) ? last : nullptr;
}

/// Reads a whole token that is a decimal number: a sign, points at either end of the digits, exponents with e or (as
/// Fortran writes them) d in either case, nan and inf. Correctly rounded; past the range of R it is infinite or 0.
/// Returns the token's end, or nullptr where the token is something else.
template <class R>
const char* parse_any_real(const char* p, const char* end, R& value);

/// As parse_any_real. Tries std::from_chars first, which needs 25 ns for a double; a parser of our own, with eight
/// digits at a time and one multiplication by a table of powers, was not faster.
template <class R>
const char* parse_real(const char* p, const char* end, R& value) {
  const auto [last, status] = std::from_chars(p, end, value);
  return status == std::errc() && ends_token(last, end) ? last : parse_any_real(p, end, value);
}

}  // namespace krill
