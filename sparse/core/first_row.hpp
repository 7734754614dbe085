// The first row that something is wrong with.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

namespace krill::detail {

inline constexpr std::int32_t no_row = std::numeric_limits<std::int32_t>::max();

/// The first row (or column) that a pass names, as its sum; no_row where it names none.
struct FirstRow {
  std::int32_t row = no_row;
  constexpr FirstRow& operator+=(FirstRow other) {
    if (other.row < row) row = other.row;
    return *this;
  }
};

/// The greatest of the sizes that a pass has seen, and the first row with one that is not finite.
struct GreatestFinite {
  double size = 0;
  FirstRow fault;
  std::int32_t unused = 0;
  constexpr GreatestFinite& operator+=(const GreatestFinite& other) {
    if (other.size > size) size = other.size;
    fault += other.fault;
    return *this;
  }
};

/// The row, as a block row where rows stand in blocks; nothing for no_row.
inline std::optional<std::int32_t> row_or_none(std::int32_t row, std::int32_t block_dim = 1) {
  if (row == no_row) return std::nullopt;
  return row / block_dim;
}

}  // namespace krill::detail
