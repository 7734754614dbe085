// How text stands on a terminal: its width and its colors.
#pragma once
#include <cstdio>
#include <string>

namespace krill::apps {

/// What tables and sentences keep to, in columns. The same where there is no terminal, so that both read alike.
constexpr std::size_t text_width = 80;

/// Words wrapped at `width` columns, every line after the first with `indent` blanks before it.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = text_width);

/// Whether `out` is a terminal that draws a line anew (TERM is not dumb).
bool is_live(std::FILE* out);

/// The columns of the terminal; text_width where it does not say, or where there is none.
std::size_t columns(std::FILE* out);

/// Colors of words; none unless it was made for a terminal that shows them.
class Paint {
 public:
  Paint() = default;
  /// Colors where is_live(out) and the environment has no NO_COLOR (https://no-color.org) that says something.
  explicit Paint(std::FILE* out);

  std::string good(const std::string& text) const { return with("32", text); }     ///< green
  std::string bad(const std::string& text) const { return with("31", text); }      ///< red
  std::string warning(const std::string& text) const { return with("33", text); }  ///< yellow
  std::string heading(const std::string& text) const { return with("1", text); }   ///< bold

 private:
  std::string with(const char* code, const std::string& text) const;

  bool colors_ = false;
};

}  // namespace krill::apps
