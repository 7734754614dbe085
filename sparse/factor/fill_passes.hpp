// Entries of a matrix in another pattern: where they are, and new values between zeros.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// Of each entry of a pattern, that of A in its place; -1: A has none. Both are sorted. `taken`: those that A has. Over
/// the rows.
template <class Offset>
struct FindSources {
  using Sum = std::int64_t;
  CsrView<const NoValue, Offset> a;
  const Offset* row_offsets;  ///< of the pattern
  const std::int32_t* col_indices;
  Offset* sources;
  std::int64_t* taken;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    Offset at = a.row_offsets[i];
    const Offset end = a.row_offsets[i + 1];
    Sum count = 0;
    for (Offset k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
      while (at < end && a.col_indices[at] < col_indices[k]) ++at;
      const bool is_of_a = at < end && a.col_indices[at] == col_indices[k];
      sources[k] = is_of_a ? at : Offset{-1};
      count += is_of_a;
    }
    return count;
  }
  constexpr void finish(Sum sum) const { *taken = sum; }
};

/// to = the values of A, and zeros where it has no entry. Over the entries of the filled matrix.
template <class T, class Offset>
struct FillWithZeros {
  using Sum = NoSum;
  const T* values;
  const Offset* sources;  ///< of each entry, that of A, or -1
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return to[k] = sources[k] < 0 ? T{} : values[sources[k]], NoSum{}; }
};

}  // namespace krill::detail
