// Where in its row an entry stands.
#pragma once
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// The first of the entries [low, high) whose column is not less than `col`; high where there is none. By bisection.
template <class Offset>
constexpr Offset lower_entry(const std::int32_t* col_indices, Offset low, Offset high, std::int64_t col) {
  while (low < high) {
    const Offset middle = low + (high - low) / 2;
    if (col_indices[middle] < col)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The first entry of a row whose column is not less than `col`.
template <class T, class Offset>
constexpr Offset lower_entry(const CsrView<const T, Offset>& a, std::int64_t row, std::int64_t col) {
  return lower_entry(a.col_indices, a.row_offsets[row], a.row_offsets[row + 1], col);
}

/// As lower_entry, where the answer is likely to be near `low`: steps that double, then bisection. O(log of the way).
template <class Offset>
constexpr Offset next_entry(const std::int32_t* col_indices, Offset low, Offset end, std::int64_t col) {
  Offset high = low;
  for (std::int64_t step = 1; high < end && col_indices[high] < col; step *= 2) {
    low = high + 1;
    high = step < end - high ? static_cast<Offset>(high + step) : end;
  }
  return lower_entry(col_indices, low, high, col);
}

}  // namespace krill::detail
