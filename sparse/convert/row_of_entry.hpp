// Which row an entry belongs to.
#pragma once
#include <algorithm>
#include <cstdint>

namespace krill {

/// The row of entry k, counted from zero, by bisection of the offsets; rows may be empty, and the offsets may count
/// from anything.
template <class Offset>
constexpr std::int32_t row_of_entry(const Offset* row_offsets, std::int32_t rows, std::int64_t k) {
  return static_cast<std::int32_t>(std::upper_bound(row_offsets, row_offsets + rows, row_offsets[0] + k) - row_offsets -
                                   1);
}

}  // namespace krill
