#include "sparse/io/fortran_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "sparse/io/numbers.hpp"
#include "sparse/io/text_fault.hpp"

namespace krill {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == text.npos ? text.substr(text.size()) : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A whole number at the front of the text, cut off; nothing where there is none.
std::optional<std::int64_t> take_count(std::string_view& text) {
  std::int64_t count = 0;
  const auto [last, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (status != std::errc() || count < -1000 || count > 1000) return {};
  text.remove_prefix(static_cast<std::size_t>(last - text.data()));
  return count;
}
char take_letter(std::string_view& text) {
  if (text.empty()) return 0;
  const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  text.remove_prefix(1);
  return letter;
}

/// Fortran leaves the E out where an exponent has three digits: 1.5-105 is 1.5e-105.
std::string with_exponent_letter(std::string_view number) {
  std::string result(number);
  const std::size_t sign = result.find_last_of("+-");
  if (sign != result.npos && sign > 0 &&
      (std::isdigit(static_cast<unsigned char>(result[sign - 1])) || result[sign - 1] == '.'))
    result.insert(sign, 1, 'e');
  return result;
}

}  // namespace

std::optional<FortranFormat> take_fortran_format(std::string_view& text) {
  const std::size_t open = text.find('(');
  if (open == text.npos) return {};
  text.remove_prefix(open + 1);
  FortranFormat format;
  for (int elements = 0; elements < 8; ++elements) {
    while (!text.empty() && (is_blank(text.front()) || text.front() == ',')) text.remove_prefix(1);
    const std::optional<std::int64_t> count = take_count(text);
    const char letter = take_letter(text);
    if (letter == 'P') continue;  // a scale factor
    format.repeat *= count.value_or(1);
    if (letter == '(') continue;
    if (std::string_view("IEDFG").find(letter) == std::string_view::npos) return {};
    format.width = take_count(text).value_or(0);
    text.remove_prefix(std::min(text.find_first_of(" (", text.find(')')), text.size()));
    if (format.repeat < 1 || format.width < 1) return {};
    return format;
  }
  return {};
}

std::string_view FortranReader::next_line(std::string_view what) {
  if (rest_.empty())
    fail(rest_, fmt::format("the file ends where {} should stand", what), "expected more lines, as the head says",
         "check that the file is whole");
  const std::size_t size = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, size);
  rest_.remove_prefix(std::min(size + 1, rest_.size()));
  return line_;
}

void FortranReader::begin(std::string_view what, std::int64_t count, FortranFormat format) {
  what_ = what, count_ = count, index_ = 0, format_ = format;
  if (std::cmp_greater(count, rest_.size()))
    fail(rest_, fmt::format("the {} bytes that follow cannot hold {} {}s", rest_.size(), count, what),
         "expected the numbers that the head declares", "check that the file is whole, or correct its head");
}

std::string_view FortranReader::next_field() {
  const std::int64_t in_line = index_ % format_.repeat;
  if (in_line == 0) next_line(what_);
  const auto start = static_cast<std::size_t>(in_line * format_.width);
  field_ = trimmed(line_.substr(std::min(start, line_.size()), static_cast<std::size_t>(format_.width)));
  ++index_;
  if (field_.empty()) fail_number("is missing", "expected a number", "check that the file is whole");
  return field_;
}

std::int64_t FortranReader::next_integer(std::int64_t least, std::int64_t most) {
  const std::string_view field = next_field();
  std::int64_t value = 0;
  if (!parse_integer(field.data(), field.data() + field.size(), value))
    fail_number("is no whole number", "expected digits", "check the formats in line 4 of the file");
  if (value < least || value > most)
    fail_number("is out of range", fmt::format("expected {} to {}", least, most),
                "correct it, or the head of the file");
  return value;
}

template <class R>
R FortranReader::next_real() {
  const std::string_view field = next_field();
  R value{};
  if (parse_real(field.data(), field.data() + field.size(), value)) return value;
  const std::string number = with_exponent_letter(field);
  if (!parse_real(number.data(), number.data() + number.size(), value))
    fail_number("is no number", "expected a decimal number", "check the formats in line 4 of the file");
  return value;
}

void FortranReader::fail(std::string_view at, const std::string& what, std::string_view expected,
                         std::string_view remedy) const {
  const char* place = file_.text.data() + (at.data() - file_.text.data());
  raise(file_, {place, fmt::format("{}\n  {}\n  {}", what, expected, remedy)});
}

void FortranReader::fail_number(std::string_view problem, std::string_view expected, std::string_view remedy) const {
  fail(field_, fmt::format("{} {} of {}, {}, {}", what_, index_, count_, in_quotes(field_), problem), expected, remedy);
}

template float FortranReader::next_real();
template double FortranReader::next_real();

}  // namespace krill
