// Rows that are looked at in place of all.
#pragma once
#include <cstdint>

namespace krill::detail {

/// Some rows, evenly spread.
struct RowSample {
  static constexpr std::int64_t most = 65'536;
  std::int32_t rows;

  constexpr std::int64_t size() const { return rows < most ? rows : most; }
  constexpr std::int64_t row(std::int64_t i) const { return i * rows / size(); }
};

}  // namespace krill::detail
