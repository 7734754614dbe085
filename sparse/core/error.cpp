#include "sparse/core/error.hpp"

#include <fmt/format.h>

#include <array>

namespace krill {
namespace {

std::string place(const std::string& file, std::int64_t line, std::int64_t column) {
  if (line <= 0) return file;
  return column > 0 ? fmt::format("{}:{}:{}", file, line, column) : fmt::format("{}:{}", file, line);
}

}  // namespace

ParseError::ParseError(std::string file_, std::int64_t line_, std::int64_t column_, const std::string& message)
    : Error(place(file_, line_, column_) + ": " + message), file(std::move(file_)), line(line_), column(column_) {}

OutOfMemory::OutOfMemory(std::string_view what, std::size_t asked_, std::size_t free_, int device)
    : Error(fmt::format("{} needs {} ({} bytes), {} on {}", what, human_bytes(asked_), asked_,
                        free_ > 0 ? human_bytes(free_) + " are free" : "more than is free",
                        device < 0 ? "the host" : fmt::format("CUDA device {}", device))),
      asked(asked_),
      free(free_) {}

void require_size(std::string_view what, std::int64_t found, std::int64_t expected) {
  if (found != expected) throw ShapeMismatch(fmt::format("{} has {} entries, {} are needed", what, found, expected));
}

void require(bool fine, std::string_view message) {
  if (!fine) throw InvalidArgument(std::string(message));
}

std::string human_bytes(std::size_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

}  // namespace krill
