// Patterns that consist of full blocks, and what stands for them: an entry a block.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// How many lanes meet an entry that stands in no full block of row_dim x col_dim, or a row that has not its block
/// row's entries. Over `lanes` a row.
template <class Offset>
struct FindPartialBlocks {
  using Sum = std::int64_t;
  static constexpr std::int64_t lanes = 8;  // Not varied
  CsrView<const NoValue, Offset> a;
  std::int32_t row_dim, col_dim;
  std::int64_t* found;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t at) const {
    const std::int64_t row = at / lanes, leader = row - row % row_dim;
    const std::int64_t begin = a.row_offsets[row], count = a.row_offsets[row + 1] - begin,
                       first = a.row_offsets[leader];
    if (count != a.row_offsets[leader + 1] - first || count % col_dim != 0) return 1;
    for (std::int64_t k = at % lanes; k < count; k += lanes) {
      const std::int32_t col = a.col_indices[begin + k];
      const bool is_first = k % col_dim == 0;
      if (col != a.col_indices[first + k]) return 1;
      if (is_first ? col % col_dim != 0 : col != a.col_indices[begin + k - 1] + 1) return 1;
    }
    return 0;
  }
  constexpr void finish(Sum sum) const { *found = sum; }
};

/// Offsets of block rows from those of rows. Over the block rows + 1.
template <class Offset>
struct GatherBlockOffsets {
  using Sum = NoSum;
  const Offset* row_offsets;
  std::int32_t row_dim, col_dim;
  Offset* of_blocks;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    of_blocks[i] = row_offsets[i * row_dim] / (row_dim * col_dim);
    return {};
  }
};

/// Columns of blocks from those of the first row of each. Over `lanes` a block row.
template <class Offset>
struct GatherBlockColumns {
  using Sum = NoSum;
  static constexpr std::int64_t lanes = 8;  // Not varied
  CsrView<const NoValue, Offset> a;
  std::int32_t row_dim, col_dim;
  const Offset* of_blocks;
  std::int32_t* columns;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t at) const {
    const std::int64_t block_row = at / lanes, first = of_blocks[block_row], count = of_blocks[block_row + 1] - first,
                       begin = a.row_offsets[block_row * row_dim];
    for (std::int64_t k = at % lanes; k < count; k += lanes)
      columns[first + k] = a.col_indices[begin + k * col_dim] / col_dim;
    return {};
  }
};

/// Row offsets of full blocks from those of their block rows. Over the rows + 1.
template <class From, class Offset>
struct SpreadBlockOffsets {
  using Sum = NoSum;
  const From* of_blocks;
  std::int32_t row_dim, col_dim;
  Offset* row_offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t block_row = i / row_dim, within = i - block_row * row_dim;
    const std::int64_t before = of_blocks[block_row], own = within > 0 ? of_blocks[block_row + 1] - before : 0;
    row_offsets[i] = static_cast<Offset>((before * row_dim + within * own) * col_dim);
    return {};
  }
};

/// Columns of full blocks from those of blocks. Over `lanes` a row.
template <class Offset>
struct SpreadBlockColumns {
  using Sum = NoSum;
  static constexpr std::int64_t lanes = 8;  // Not varied
  CsrView<const NoValue, Offset> blocks;
  std::int32_t row_dim, col_dim;
  const Offset* row_offsets;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t at) const {
    const std::int64_t row = at / lanes, first = row_offsets[row];
    const auto count = static_cast<std::int32_t>(row_offsets[row + 1] - first);
    const std::int32_t* const columns = blocks.col_indices + blocks.row_offsets[row / row_dim];
    for (auto e = static_cast<std::int32_t>(at % lanes); e < count; e += std::int32_t{lanes})
      col_indices[first + e] = columns[e / col_dim] * col_dim + e % col_dim;
    return {};
  }
};

/// What is compiled for each backend.
template <class Offset, class Where>
struct BlockPatternPasses {
  static constexpr auto list =
      passes<Where, FindPartialBlocks<Offset>, GatherBlockOffsets<Offset>, GatherBlockColumns<Offset>,
             SpreadBlockOffsets<Offset, Offset>, SpreadBlockColumns<Offset>>;
};

}  // namespace krill::detail
