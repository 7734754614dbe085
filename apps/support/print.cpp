#include "apps/support/print.hpp"

#include <cstdio>
#include <sstream>

#include "apps/support/terminal.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw WriteError("the standard output cannot be written: it is closed or full");
}

void complain(const std::string& message) {
  const Paint paint(stderr);
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    const std::string head = indent == 0 ? "krill: " : "";
    if (is_live(stderr) && indent != std::string::npos)
      line = std::string(indent, ' ') + wrapped(line, indent + 2, columns(stderr) - head.size());
    std::fputs((paint.bad(head) + line + "\n").c_str(), stderr);
  }
}

}  // namespace krill::apps
