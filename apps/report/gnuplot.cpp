#include "apps/report/gnuplot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "apps/support/child_process.hpp"

namespace krill::apps {
namespace {

constexpr std::string_view preamble =
    "set terminal svg size 800,500 dynamic background rgb 'white' font 'sans-serif,14'\n"
    "set encoding utf8\n";

std::string complaint(const std::string& text) {
  // The line at fault and a caret stand above the message.
  std::string last;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin && text.find_first_not_of(" ^", begin) < end) last = text.substr(begin, end - begin);
    begin = end + 1;
  }
  return last;
}

}  // namespace

Drawing draw(const std::string& script, double seconds) {
  // The user's own gnuplot settings play no part: -d.
  const ChildEnd end = run_child({"gnuplot", {"gnuplot", "-d", "-"}, std::string(preamble) + script, seconds});
  if (end.start_error == ENOENT) return {{}, "no plot: gnuplot is not installed"};
  if (end.start_error)
    return {{}, fmt::format("no plot: gnuplot cannot be started ({})", std::strerror(end.start_error))};
  if (end.out_of_time) return {{}, fmt::format("no plot: gnuplot took more than {} s and was ended", seconds)};
  const int status = end.signal ? 128 + end.signal : end.exit_code;
  if (status == 0 && end.out.find("</svg>") != std::string::npos) return {end.out, {}};
  return {{}, fmt::format("no plot: gnuplot ended with {}: {}", status, complaint(end.err))};
}

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte >> 5 == 6 ? 2 : byte >> 4 == 14 ? 3 : byte >> 3 == 30 ? 4 : 0;
    bool whole = length > 0 && i + length <= text.size() && byte >= 0x20 && byte != 0x7f;
    for (std::size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (whole && byte == '\'') quoted += '\'';  // doubled, it stands for itself
    if (whole) quoted += text.substr(i, length);
    i += whole ? length : 1;
  }
  return quoted + "'";
}

}  // namespace krill::apps
