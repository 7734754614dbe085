#include "sparse/formats/shape.hpp"

#include <fmt/format.h>

namespace krill {

static std::int32_t dimension(std::string_view what, const char* name, std::int64_t value) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (value < 0 || value > most)
    throw InvalidArgument(fmt::format("{}: {} is {}, 0 to {} were expected", what, name, value, most));
  return static_cast<std::int32_t>(value);
}

MatrixShape::MatrixShape(std::string_view what, std::int64_t rows, std::int64_t cols)
    : rows_(dimension(what, "rows", rows)), cols_(dimension(what, "cols", cols)) {}

void require_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    throw InvalidArgument(fmt::format("{} is {}, {} to {} were expected", what, value, low, high));
}

}  // namespace krill
