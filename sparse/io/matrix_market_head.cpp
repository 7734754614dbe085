#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <vector>

#include "sparse/core/error.hpp"
#include "sparse/io/matrix_market.hpp"
#include "sparse/io/numbers.hpp"
#include "sparse/io/text_fault.hpp"

namespace krill {
namespace {

constexpr std::string_view banner = "%%MatrixMarket", byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view banner_form =
    "expected \"%%MatrixMarket matrix coordinate|array real|complex|integer|pattern "
    "general|symmetric|skew-symmetric|hermitian\"";

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Reads the head token by token.
class HeadParser {
 public:
  explicit HeadParser(const InputFile& file)
      : file_(file), p_(file.text.data()), end_(file.text.data() + file.text.size()) {
    if (file.view().starts_with(byte_order_mark)) p_ += byte_order_mark.size();
  }

  MatrixMarketHead parse() {
    skip_blank_lines();
    const char* start = p_;
    if (lower(next_word()) != lower(banner))
      fail(start, fmt::format("this is no Matrix Market banner: {}", in_quotes(token_at(start, end_))), banner_form,
           "correct the first line");
    read_object();
    kind_.dense = choice("format", {"coordinate", "array"}) == 1;
    kind_.field = static_cast<Field>(choice("field", {"real", "complex", "integer", "pattern"}));
    kind_.symmetry = static_cast<Symmetry>(choice("symmetry", {"general", "symmetric", "skew-symmetric", "hermitian"}));
    check_words_together();
    end_line("the banner");
    return read_sizes();
  }

 private:
  [[noreturn]] void fail(const char* at, const std::string& what, std::string_view expected, std::string_view remedy) {
    raise(file_, {at, fmt::format("{}\n  {}\n  {}", what, expected, remedy)});
  }
  void skip_blank_lines() {
    while (p_ != end_ && (is_blank(*p_) || *p_ == '\n')) ++p_;
  }
  void skip_line() {
    p_ = std::find(p_, end_, '\n');
    if (p_ != end_) ++p_;
  }
  std::string_view next_word() {
    p_ = skip_blanks(p_, end_);
    const std::string_view word = token_at(p_, end_);
    p_ += word.size();
    return word;
  }
  void end_line(std::string_view what) {
    const char* at = skip_blanks(p_, end_);
    if (const std::string_view junk = next_word(); !junk.empty())
      fail(at, fmt::format("{} ends with {}", what, in_quotes(junk)), "expected the end of the line", "remove it");
    skip_line();
  }

  /// The number of the word that stands here.
  std::size_t choice(std::string_view what, std::vector<std::string_view> words) {
    const char* at = skip_blanks(p_, end_);
    const std::string word = lower(next_word());
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      fail(at,
           word.empty() ? fmt::format("the banner lacks its {}", what)
                        : fmt::format("the banner's {} is {}", what, in_quotes(word)),
           banner_form, "correct the first line");
    return static_cast<std::size_t>(found - words.begin());
  }
  void read_object() { kind_.vector = choice("object", {"matrix", "vector"}) == 1; }

  void check_words_together() {
    const auto refuse = [&](std::string_view what, std::string_view expected, std::string_view remedy) {
      fail(p_ - name(kind_.symmetry).size(), fmt::format("the banner says {} {}", what, name(kind_.symmetry)), expected,
           remedy);
    };
    if (kind_.vector && kind_.symmetry != Symmetry::general)
      refuse("vector and", "expected general", "correct the first line");
    if (kind_.symmetry == Symmetry::hermitian && kind_.field != Field::complex)
      refuse(name(kind_.field), "expected complex with hermitian",
             "write symmetric where the values are real, complex where they are pairs");
    if (kind_.field == Field::pattern && kind_.symmetry == Symmetry::skew_symmetric)
      refuse("pattern", "expected general or symmetric: a pattern has no signs", "correct the first line");
    if (kind_.field == Field::pattern && kind_.dense)
      fail(p_ - name(kind_.symmetry).size(), "the banner says array and pattern", "expected coordinate with pattern",
           "correct the first line");
  }

  MatrixMarketHead read_sizes() {
    for (skip_blank_lines(); p_ != end_ && *p_ == '%'; skip_blank_lines()) skip_line();
    const char* line = p_;
    const int wanted = (kind_.vector ? 1 : 2) + (kind_.dense ? 0 : 1);
    constexpr std::array<std::string_view, 4> forms{"", "rows", "rows cols", "rows cols entries"};
    const std::string_view form = kind_.vector && !kind_.dense ? "rows entries" : forms.at(wanted);
    if (p_ == end_)
      fail(p_, "the file ends before its size line", fmt::format("expected \"{}\"", form),
           "check that the file is whole");
    kind_.rows = read_size("rows", form);
    kind_.cols = kind_.vector ? 1 : read_size("columns", form);
    kind_.stored_entries = kind_.dense ? entries_of_array() : read_count("entries", form);
    if (kind_.symmetry != Symmetry::general && kind_.rows != kind_.cols)
      fail(line, fmt::format("the matrix is {} and {} x {}", name(kind_.symmetry), kind_.rows, kind_.cols),
           "expected as many rows as columns", "correct the size line, or write general in the banner");
    end_line("the size line");
    return {kind_, line_of(file_, line), static_cast<std::size_t>(p_ - file_.text.data())};
  }

  std::int64_t read_count(std::string_view what, std::string_view form) {
    p_ = skip_blanks(p_, end_);
    const char* at = p_;
    const std::string_view word = next_word();
    std::int64_t count = 0;
    if (parse_integer(at, end_, count) && count >= 0) return count;
    fail(at,
         word.empty() ? fmt::format("the size line lacks the number of {}", what)
                      : fmt::format("the number of {} is {}", what, in_quotes(word)),
         fmt::format("expected \"{}\", each a whole number from 0 on", form), "correct the size line");
  }
  std::int32_t read_size(std::string_view what, std::string_view form) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const char* at = skip_blanks(p_, end_);
    const std::int64_t size = read_count(what, form);
    if (size > most)
      fail(at, fmt::format("the matrix has {} {}", size, what), fmt::format("expected at most {}", most),
           "indices have 32 bits: larger systems cannot be solved here");
    return static_cast<std::int32_t>(size);
  }
  std::int64_t entries_of_array() const {
    const std::int64_t n = kind_.rows;
    switch (kind_.symmetry) {
      case Symmetry::general:
        return n * kind_.cols;
      case Symmetry::skew_symmetric:
        return n * (n - 1) / 2;
      default:
        return n * (n + 1) / 2;
    }
  }

  const InputFile& file_;
  const char *p_, *end_;
  MatrixKind kind_;
};

}  // namespace

bool looks_like_matrix_market(const InputFile& file) {
  std::string_view text = file.view();
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with('%');
}

MatrixMarketHead parse_matrix_market_head(const InputFile& file) { return HeadParser(file).parse(); }

}  // namespace krill
