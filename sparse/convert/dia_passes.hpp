// The passes of the conversions to DIA and HDIA.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/dia.hpp"

namespace krill::detail {

/// flags[col - row + rows - 1] = 1 for every entry; several threads may write the same word the same. Over rows from
/// the first one on.
template <class T, class Offset>
struct FlagDiagonals {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  std::int32_t* flags;
  std::int64_t first = 0;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    const std::int64_t i = first + s;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      store_relaxed(flags[a.col_indices[k] - i + a.rows - 1], std::int32_t{1});
    return {};
  }
};

/// offsets[position] = the diagonal, for those that are flagged. Over the diagonals of the matrix.
struct ListDiagonals {
  using Sum = NoSum;
  const std::int32_t *flags, *positions;
  std::int32_t rows;
  std::int32_t* offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t d) const {
    if (flags[d]) offsets[positions[d]] = static_cast<std::int32_t>(d - rows + 1);
    return {};
  }
};

/// The values of a stored row in all diagonals of its hack, zeros where it has no entry; over all places for rows.
template <class T, class Offset>
struct FillDia {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  DiaView<const T> to;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const auto hack_rows = static_cast<std::uint32_t>(to.hack_rows), row = static_cast<std::uint32_t>(i);  // < 2^32
    const auto hack = static_cast<std::int32_t>(row / hack_rows);
    const std::uint32_t place = row % hack_rows;
    const bool there = i < from.rows;
    Offset k = there ? from.row_offsets[i] : 0;
    const Offset end = there ? from.row_offsets[i + 1] : 0;
    for (std::int64_t d = to.first_diagonal(hack); d < to.end_diagonal(hack); ++d) {
      const bool hit = k < end && from.col_indices[k] - i == to.offsets[d];
      values[d * to.hack_rows + place] = hit ? from.values[k] : T{};
      k += hit;
    }
    return {};
  }
};

}  // namespace krill::detail
