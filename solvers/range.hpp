// The values that an option may take.
#pragma once
#include <limits>

namespace krill {

/// [min, max], the ends excluded where the flag says so.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool without_min = false, without_max = false;
};
inline constexpr Range any_value{};
inline constexpr Range at_least_zero{0.0};
inline constexpr Range at_least_one{1.0};
inline constexpr Range above_zero{0.0, std::numeric_limits<double>::infinity(), true};

}  // namespace krill
