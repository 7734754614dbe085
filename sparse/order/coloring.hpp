// Distance-1 coloring: rows of one color do not meet, so they can be worked on at the same time.
#pragma once
#include "sparse/order/ordering.hpp"

namespace krill {

/// The rows of a square matrix in classes; no two rows of a class have an entry in common places a_ij or a_ji.
struct Coloring {
  std::int32_t count = 0;       ///< colors
  Array<std::int32_t> colors;   ///< of each row: 0 to count - 1, all of them used
  Array<std::int32_t> offsets;  ///< the rows of color c have the places offsets[c] to offsets[c + 1] - 1
  /// Rows by color, those of one color as they stand; its inverse() is csrcolor's `reordering`.
  Ordering ordering;
};

/// Colors A's pattern joined with its transpose's, the diagonal left out (REO-CSRCOLOR). Greedy: one row after the
/// other takes the least color that none of its neighbors has. Rows of more than 127 entries come first, then the
/// others as they stand; in large matrices with the stride of a grid, chunks of whole planes (lines) of an even number,
/// first every other one, then those between. There are at most as many colors as the longest row has neighbors, and
/// one more; 2 on 5- and 7-point grids, as the sequential greedy algorithm has.
///
/// The classes are kept, in their order, until they hold `fraction_to_color` of the rows; each other row gets a color
/// of its own after those.
///
/// The same on both backends and in every run. O(nnz), on CUDA with as many waits inside one kernel as the longest
/// chain of neighbors, each after the one before, has rows, and a few of the host; on the host one thread. 4 bytes an
/// entry of workspace; a pattern that is not symmetric (which 64 bits of a hash of its entries say) is transposed.
/// Raises ShapeMismatch unless A is square, InvalidArgument unless the fraction lies in [0, 1].
template <class T, class Offset>
Coloring color(Context&, const Csr<T, Offset>& A, double fraction_to_color = 1);
/// Of which the ordering stays.
HeldMemory color_memory(MemoryLedger&, const CsrSizes& A, bool has_symmetric_pattern);

// The kernels behind it: pointers on the tag's side.
namespace detail {

/// The neighbors of each row: the columns of one matrix, and of its transpose where that has another pattern.
template <class Offset>
struct Neighbors {
  const Offset* row_offsets[2] = {};  ///< the second may be null
  const std::int32_t* col_indices[2] = {};

  constexpr std::int64_t entries(std::int64_t row) const {
    std::int64_t sum = row_offsets[0][row + 1] - row_offsets[0][row];
    if (row_offsets[1]) sum += row_offsets[1][row + 1] - row_offsets[1][row];
    return sum;
  }
};

/// The order in which rows are colored, but for the long ones, which come first. Chunks of `chunk` rows advance side by
/// side, a few rows at a time: those of even number, then those of odd number.
struct ColorSequence {
  static constexpr std::int64_t unit = 32;  ///< rows of a chunk that follow each other

  std::int32_t rows = 0;
  std::int32_t chunk = 0;  ///< `rows` where there is one
  std::int32_t chunks = 1;

  constexpr std::int64_t units() const { return (chunk + unit - 1) / unit; }  // of a chunk
  constexpr std::int64_t even() const { return (chunks + 1) / 2; }
  /// Steps; some have no row.
  constexpr std::int64_t steps() const { return chunks * units() * unit; }

  constexpr std::int64_t step(std::int32_t row) const {
    if (chunks == 1) return row;
    const std::int32_t number = row / chunk, inside = row % chunk;
    const bool odd = number % 2 != 0;
    const std::int64_t side_by_side = odd ? chunks / 2 : even(), before = odd ? even() * units() : 0;
    return (before + inside / unit * side_by_side + number / 2) * unit + inside % unit;
  }
  /// The row of a step; -1 where there is none.
  constexpr std::int32_t row(std::int64_t step) const {
    if (chunks == 1) return step < rows ? static_cast<std::int32_t>(step) : -1;
    const bool odd = step >= even() * units() * unit;
    const std::int64_t place = step / unit - (odd ? even() * units() : 0), side_by_side = odd ? chunks / 2 : even();
    const std::int64_t inside = place / side_by_side * unit + step % unit;
    const std::int64_t row = (place % side_by_side * 2 + odd) * chunk + inside;
    return inside < chunk && row < rows ? static_cast<std::int32_t>(row) : -1;
  }
};

/// Rows of more entries than this are long: the least free color of a row of fewer is among the first 128.
inline constexpr std::int64_t longest_short_row = 127;
/// The word of a long row without a color. A short row without one has 0, and color c is the word c + 1.
inline constexpr std::int32_t awaited_color = -1;

/// Colors the `count` long rows that `list` names in the order of steps, then all others.
template <class Offset>
void greedy_colors(const Host&, const Neighbors<Offset>&, const ColorSequence&, std::int32_t count,
                   const std::int32_t* list, std::int32_t* colors);
template <class Offset>
void greedy_colors(const Cuda&, const Neighbors<Offset>&, const ColorSequence&, std::int32_t count,
                   const std::int32_t* list, std::int32_t* colors);

}  // namespace detail
}  // namespace krill
