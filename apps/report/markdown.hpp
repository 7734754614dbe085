// Text in Markdown.
#pragma once
#include <string>
#include <string_view>

namespace krill::apps {

/// A cell of a table with the bar that ends it: one line, in which a bar of the text does not end the cell.
inline std::string markdown_cell(std::string_view text) {
  std::string result = " ";
  for (const char c : text) result += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return result + " |";
}

}  // namespace krill::apps
