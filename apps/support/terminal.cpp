#include "apps/support/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace krill::apps {

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  std::istringstream in(text);
  for (std::string word; in >> word; column += word.size()) {
    if (!result.empty() && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
  }
  return result;
}

bool is_live(std::FILE* out) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(out)) && !(kind && std::string_view(kind) == "dumb");
}

std::size_t columns(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : text_width;
}

Paint::Paint(std::FILE* out) {
  const char* refusal = std::getenv("NO_COLOR");
  colors_ = is_live(out) && (!refusal || !*refusal);
}

std::string Paint::with(const char* code, const std::string& text) const {
  return colors_ && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

}  // namespace krill::apps
