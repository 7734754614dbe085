// The passes that find the tiles of a matrix in CSR.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/spmv/csr_tiles.hpp"

namespace krill::detail {

inline constexpr std::int32_t tile_alignment = 8;  ///< rows: x and y are then read and written in whole sectors

/// The beginning of each tile, and of the end behind the last; starts[t] = 1 if tile t is the second one of a long row.
/// One bisection of the row offsets each. Over the tiles and their end.
template <class Offset>
struct FindTiles {
  using Sum = NoSum;
  CsrTiling tiling;
  std::int32_t count, rows;
  std::int64_t base;
  const Offset* row_offsets;
  CsrTile* tiles;
  unsigned* arrived;
  std::int32_t* starts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t t) const {
    const std::int64_t position = t * tiling.length();
    const std::int32_t row = t < count ? first_row_from(position) : rows,
                       aligned = row / tile_alignment * tile_alignment;
    CsrTile tile{offset(row), row};
    bool is_second = false;
    if (t < count && aligned < row && offset(row) - offset(aligned) <= tiling.slack) {
      tile = {offset(aligned), aligned};
    } else if (t < count && row > 0 && CsrTiling::entry_length * offset(row) + row > position &&
               tiling.is_long(row - 1, offset(row - 1), offset(row))) {
      tile.entry = (position - row + CsrTiling::entry_length - 1) / CsrTiling::entry_length;
      tile.began = static_cast<std::int32_t>(tiling.first_tile(row - 1, offset(row - 1)));
      is_second = tile.began == t - 1;
    }
    tiles[t] = tile, starts[t] = is_second;
    if (t < count) arrived[t] = 0;
    return {};
  }

 private:
  constexpr std::int64_t offset(std::int32_t row) const { return row_offsets[row] - base; }
  constexpr std::int32_t first_row_from(std::int64_t position) const {
    std::int32_t low = 0, high = rows;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (CsrTiling::entry_length * offset(middle) + middle < position)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// Marks the tiles that have a row of more than even_row entries. Over the rows.
template <class Offset>
struct MarkUnevenTiles {
  using Sum = NoSum;
  CsrTiling tiling;
  std::int32_t count;
  std::int64_t base;
  const Offset* row_offsets;
  CsrTile* tiles;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const Offset begin = row_offsets[i], end = row_offsets[i + 1];
    if (end - begin <= even_row) return {};
    const auto row = static_cast<std::int32_t>(i);
    const std::int64_t last =
        tiling.last_tile(row, end - base) + 1;  // a tile may begin early, for its rows to be aligned
    for (std::int64_t t = tiling.first_tile(row, begin - base); t <= last && t < count; ++t)
      if (load_relaxed(tiles[t].began) < 0) store_relaxed(tiles[t].began, static_cast<std::int32_t>(t));
    return {};
  }
};

/// The long rows, ascending. Over the tiles.
struct ListLongRows {
  using Sum = NoSum;
  const CsrTile* tiles;
  const std::int32_t* starts;
  std::int32_t* long_rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t t) const {
    if (starts[t + 1] > starts[t]) long_rows[starts[t]] = tiles[t].row - 1;
    return {};
  }
};

}  // namespace krill::detail
