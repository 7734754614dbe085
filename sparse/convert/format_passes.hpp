// The passes of the conversions between formats: each finds or fills one row, slice or block row.
#pragma once
#include <limits>

#include "krill/sparse/convert/convert_passes.hpp"
#include "krill/sparse/convert/formats.hpp"
#include "krill/sparse/core/pass.hpp"

namespace krill {

/// The same offsets in the other type. Over them.
template <class From, class To>
struct ConvertOffsets {
  using Sum = NoSum;
  const From* from;
  To* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return to[i] = static_cast<To>(from[i]), NoSum{}; }
};

/// The greatest number that was seen.
struct Greatest {
  std::int64_t value = 0;
  constexpr Greatest& operator+=(Greatest other) {
    if (other.value > value) value = other.value;
    return *this;
  }
};

/// greatest = the greatest difference of neighbors in `offsets`. Over the rows.
template <class Offset>
struct LongestRow {
  using Sum = Greatest;
  const Offset* offsets;
  Greatest* greatest;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const { return {static_cast<std::int64_t>(offsets[i + 1] - offsets[i])}; }
  constexpr void finish(const Sum& sum) const { *greatest = sum; }
};

/// keys for sorting rows by length inside windows: the window, and the length or its negative. Over the rows.
template <class Offset>
struct RowSortKeys {
  using Sum = NoSum;
  const Offset* offsets;
  std::int32_t window;
  bool ascending;
  std::int32_t *windows, *keys;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const auto length = static_cast<std::int32_t>(offsets[i + 1] - offsets[i]);
    windows[i] = static_cast<std::int32_t>(i / window);
    keys[i] = ascending ? length : -length;
    return {};
  }
};

/// places[s] = slice_rows times the longest row of slice s. Over the slices.
template <class Offset>
struct SlicePlaces {
  using Sum = NoSum;
  const Offset* offsets;
  std::int32_t rows, slice_rows;
  const std::int32_t* permutation;
  std::int64_t* places;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    Greatest width;
    for (std::int64_t r = s * slice_rows; r < (s + 1) * slice_rows && r < rows; ++r) {
      const std::int64_t row = permutation ? permutation[r] : r;
      width += Greatest{static_cast<std::int64_t>(offsets[row + 1] - offsets[row])};
    }
    places[s] = width.value * slice_rows;
    return {};
  }
};

/// The places of each stored row of SELL, ELL or HYB's ELL part, as far as they go; over all places for rows, those of
/// rows that are missing in the last slice, too.
template <class T, class Offset>
struct FillSell {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  SellView<const T> to;       ///< without columns and values
  std::int32_t* col_indices;  ///< null: they stand already
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    const auto stored = static_cast<std::int32_t>(s);
    const std::int64_t width = to.width_of(stored);
    std::int64_t at = to.begin(stored), k = 0, end = 0;
    if (s < to.rows) {
      const std::int32_t row = to.row_of(stored);
      k = from.row_offsets[row], end = from.row_offsets[row + 1];
    }
    for (std::int64_t place = 0; place < width; ++place, ++k, at += to.slice_rows) {
      if (col_indices) col_indices[at] = k < end ? from.col_indices[k] : SellView<T>::padding_column;
      values[at] = k < end ? from.values[k] : T{};
    }
    return {};
  }
};

/// counts[i] = entries of row i beyond the first `width`. Over the rows.
template <class Offset>
struct CountBeyond {
  using Sum = NoSum;
  const Offset* offsets;
  std::int64_t width;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t length = offsets[i + 1] - offsets[i];
    counts[i] = length > width ? length - width : 0;
    return {};
  }
};

/// The entries of row i beyond the first `width`, in coordinates from starts[i] on. Over the rows.
template <class T, class Offset>
struct FillBeyond {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  std::int64_t width;
  const std::int64_t* starts;
  CooView<T> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    std::int64_t at = starts[i];
    for (std::int64_t k = from.row_offsets[i] + width; k < from.row_offsets[i + 1]; ++k, ++at) {
      to.row_indices[at] = static_cast<std::int32_t>(i);
      to.col_indices[at] = from.col_indices[k];
      to.values[at] = from.values[k];
    }
    return {};
  }
};

/// The entries of HYB's coordinate part again, where the pattern stands. Over them.
template <class T, class Offset>
struct RefillBeyond {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  CooView<const T> pattern;
  std::int64_t width;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    const std::int32_t row = pattern.row(k);
    values[k] = from.values[from.row_offsets[row] + width + (k - pattern.first_entry(row))];
    return {};
  }
};

/// The first entry of a row whose column is not less than `col`.
template <class T, class Offset>
constexpr Offset lower_entry(const CsrView<const T, Offset>& a, std::int64_t row, std::int64_t col) {
  Offset low = a.row_offsets[row], high = a.row_offsets[row + 1];
  while (low < high) {
    const Offset middle = low + (high - low) / 2;
    if (a.col_indices[middle] < col)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// flags[col - row + rows - 1] = 1 for every entry; several threads may write the same word the same. Over the rows.
template <class T, class Offset>
struct FlagDiagonals {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  std::int32_t* flags;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
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

/// Calls f(offset) for each diagonal that the rows [first, past) meet, ascending. O(diagonals rows log row length).
template <class T, class Offset, class F>
constexpr void for_diagonals(const CsrView<const T, Offset>& a, std::int64_t first, std::int64_t past, F&& f) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t last = -a.rows - std::int64_t{1};;) {
    std::int64_t next = none;
    for (std::int64_t i = first; i < past; ++i) {
      const Offset k = lower_entry(a, i, last + 1 + i);
      if (k < a.row_offsets[i + 1] && a.col_indices[k] - i < next) next = a.col_indices[k] - i;
    }
    if (next == none) return;
    f(static_cast<std::int32_t>(next));
    last = next;
  }
}

/// counts[h] = diagonals that hack h meets. Over the hacks.
template <class T, class Offset>
struct CountHackDiagonals {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  std::int32_t hack_rows;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t h) const {
    const std::int64_t first = h * hack_rows, past = first + hack_rows < a.rows ? first + hack_rows : a.rows;
    std::int64_t count = 0;
    for_diagonals(a, first, past, [&](std::int32_t) { ++count; });
    counts[h] = count;
    return {};
  }
};

/// offsets of hack h. Over the hacks.
template <class T, class Offset>
struct ListHackDiagonals {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  std::int32_t hack_rows;
  const std::int64_t* hack_offsets;
  std::int32_t* offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t h) const {
    const std::int64_t first = h * hack_rows, past = first + hack_rows < a.rows ? first + hack_rows : a.rows;
    std::int64_t at = hack_offsets[h];
    for_diagonals(a, first, past, [&](std::int32_t offset) { offsets[at++] = offset; });
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
    const auto hack = static_cast<std::int32_t>(i / to.hack_rows);
    const bool there = i < from.rows;
    Offset k = there ? from.row_offsets[i] : 0;
    const Offset end = there ? from.row_offsets[i + 1] : 0;
    for (std::int64_t d = to.first_diagonal(hack); d < to.past_diagonal(hack); ++d) {
      const bool hit = k < end && from.col_indices[k] - i == to.offsets[d];
      values[d * to.hack_rows + i % to.hack_rows] = hit ? from.values[k] : T{};
      k += hit;
    }
    return {};
  }
};

/// Calls f(block column) for each block that block row `block_row` meets, ascending.
template <class T, class Offset, class F>
constexpr void for_blocks_of(const CsrView<const T, Offset>& a, const Blocking& blocks, std::int64_t block_row, F&& f) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = block_row * blocks.row_dim;
  const std::int64_t past = first + blocks.row_dim < a.rows ? first + blocks.row_dim : a.rows;
  for (std::int64_t col = 0;;) {
    std::int64_t next = none;
    for (std::int64_t i = first; i < past; ++i) {
      const Offset k = lower_entry(a, i, col);
      if (k < a.row_offsets[i + 1] && a.col_indices[k] < next) next = a.col_indices[k];
    }
    if (next == none) return;
    f(static_cast<std::int32_t>(next / blocks.col_dim));
    col = (next / blocks.col_dim + 1) * blocks.col_dim;
  }
}

/// Calls f(i, j, value) for the entries of A inside a block.
template <class T, class Offset, class F>
constexpr void for_entries_of_block(const CsrView<const T, Offset>& a, const Blocking& blocks, std::int64_t block_row,
                                    std::int32_t block_col, F&& f) {
  const std::int64_t first = block_row * blocks.row_dim, left = std::int64_t{block_col} * blocks.col_dim;
  for (std::int32_t i = 0; i < blocks.row_dim && first + i < a.rows; ++i)
    for (Offset k = lower_entry(a, first + i, left);
         k < a.row_offsets[first + i + 1] && a.col_indices[k] < left + blocks.col_dim; ++k)
      f(i, static_cast<std::int32_t>(a.col_indices[k] - left), a.values[k]);
}

/// counts[I] = blocks of block row I. Over the block rows.
template <class T, class Offset>
struct CountBlocks {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  Blocking blocks;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t block_row) const {
    std::int64_t count = 0;
    for_blocks_of(a, blocks, block_row, [&](std::int32_t) { ++count; });
    counts[block_row] = count;
    return {};
  }
};

/// The columns of the blocks of block row I. Over the block rows.
template <class T, class Offset>
struct ListBlocks {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  Blocking blocks;
  const std::int32_t* row_offsets;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t block_row) const {
    std::int32_t at = row_offsets[block_row];
    for_blocks_of(a, blocks, block_row, [&](std::int32_t block_col) { col_indices[at++] = block_col; });
    return {};
  }
};

/// The insides of each block. Over the block rows.
template <class T, class Offset>
struct FillBlocks {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  BsrView<const T> to;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t block_row) const {
    for (std::int32_t b = to.row_begins[block_row]; b < to.row_ends[block_row]; ++b) {
      T* values = out + b * to.blocks.size();
      for (std::int64_t v = 0; v < to.blocks.size(); ++v) values[v] = T{};
      for_entries_of_block(from, to.blocks, block_row, to.col_indices[b],
                           [&](std::int32_t i, std::int32_t j, T value) { values[to.blocks.at(i, j)] = value; });
    }
    return {};
  }
};

/// The block columns of block row I, padded. Over the block rows.
template <class T, class Offset>
struct ListEllBlocks {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  Blocking blocks;
  std::int64_t width;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t block_row) const {
    std::int64_t at = block_row * width;
    for_blocks_of(a, blocks, block_row, [&](std::int32_t block_col) { col_indices[at++] = block_col; });
    for (; at < (block_row + 1) * width; ++at) col_indices[at] = BlockedEllView<T>::padding_column;
    return {};
  }
};

/// The values of row i in all places of Blocked-ELL. Over the rows.
template <class T, class Offset>
struct FillBlockedEll {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  BlockedEllView<const T> to;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i);
    Offset k = from.row_offsets[i];
    for (std::int64_t c = 0; c < to.ell_cols; ++c) {
      const std::int64_t col = to.col(row, c);
      const bool hit = col >= 0 && k < from.row_offsets[i + 1] && from.col_indices[k] == col;
      values[i * to.ell_cols + c] = hit ? from.values[k] : T{};
      k += hit;
    }
    return {};
  }
};

/// begins[I], ends[I] = row_offsets[I], row_offsets[I + 1]. Over the block rows.
struct OpenRows {
  using Sum = NoSum;
  const std::int32_t* row_offsets;
  std::int32_t *begins, *ends;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    begins[i] = row_offsets[i], ends[i] = row_offsets[i + 1];
    return {};
  }
};

/// out[k] = block permutation[k] of in, blocks of `size` entries. Over all entries.
template <class T>
struct GatherBlocks {
  using Sum = NoSum;
  const T* in;
  const std::int32_t* permutation;
  std::int64_t size;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t v) const {
    out[v] = in[permutation[v / size] * size + v % size];
    return {};
  }
};

/// The values of a matrix that is stored by columns, each found in its row of `from`. Over the columns.
template <class T, class Offset>
struct FillColumns {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  CsrView<const T> transposed;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t col) const {
    for (std::int32_t k = transposed.row_offsets[col]; k < transposed.row_offsets[col + 1]; ++k)
      values[k] = from.values[lower_entry(from, transposed.col_indices[k], col)];
    return {};
  }
};

/// The insides of blocks that are stored by columns. Over the block columns.
template <class T, class Offset>
struct FillBlockColumns {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  BsrView<const T> transposed;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t block_col) const {
    const Blocking blocks = transposed.blocks.transposed();
    for (std::int32_t b = transposed.row_begins[block_col]; b < transposed.row_ends[block_col]; ++b) {
      T* values = out + b * blocks.size();
      for (std::int64_t v = 0; v < blocks.size(); ++v) values[v] = T{};
      for_entries_of_block(from, blocks, transposed.col_indices[b], static_cast<std::int32_t>(block_col),
                           [&](std::int32_t i, std::int32_t j, T value) { values[blocks.at(i, j)] = value; });
    }
    return {};
  }
};

/// pairs[2 k], pairs[2 k + 1] = row and column of entry k. Over the entries.
struct JoinPairs {
  using Sum = NoSum;
  const std::int32_t *rows, *cols;
  std::int32_t* pairs;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    pairs[2 * k] = rows[k], pairs[2 * k + 1] = cols[k];
    return {};
  }
};

/// The other way round.
struct SplitPairs {
  using Sum = NoSum;
  const std::int32_t* pairs;
  std::int32_t *rows, *cols;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    rows[k] = pairs[2 * k], cols[k] = pairs[2 * k + 1];
    return {};
  }
};

/// A row view without its zeros: those that fill up blocks are no entries of a product.
template <class View>
struct Nonzeros {
  using Value = typename View::Value;
  View a;
  std::int32_t cols;

  constexpr std::int32_t stored_rows() const { return a.stored_rows(); }
  constexpr std::int32_t row_of(std::int32_t s) const { return a.row_of(s); }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    a.for_entries(s, [&](std::int32_t col, const Value& value) {
      if (!(value == Value(0))) f(col, value);
    });
  }
};

/// counts[row] = entries of stored row s. Over the stored rows of any row view.
template <class View, class Offset>
struct CountEntries {
  using Sum = NoSum;
  View a;
  Offset* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    Offset count = 0;
    a.for_entries(static_cast<std::int32_t>(s), [&](std::int32_t, const auto&) { ++count; });
    counts[a.row_of(static_cast<std::int32_t>(s))] = count;
    return {};
  }
};

/// The entries of stored row s from row_offsets[row] on. Over the stored rows of any row view.
template <class View, class Offset>
struct FillCsr {
  using Sum = NoSum;
  View from;
  CsrView<typename View::Value, Offset> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    Offset at = to.row_offsets[from.row_of(static_cast<std::int32_t>(s))];
    from.for_entries(static_cast<std::int32_t>(s), [&](std::int32_t col, const auto& value) {
      to.col_indices[at] = col;
      to.values[at++] = value;
    });
    return {};
  }
};

/// col_indices[k] = col for the places behind the last row's entries. Over all places.
struct FillTail {
  using Sum = NoSum;
  const std::int64_t* row_offsets;
  std::int32_t rows, col;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    if (k >= row_offsets[rows]) col_indices[k] = col;
    return {};
  }
};

/// out = the conjugate of in. Over the entries.
template <class T>
struct Conjugate {
  using Sum = NoSum;
  const T* in;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return out[k] = conj(in[k]), NoSum{}; }
};

/// Krill's own padding and base in the places of a stored row. Over all places for rows.
template <class T>
struct AdoptPadding {
  using Sum = NoSum;
  SellView<T> a;
  Padding padding;
  const std::int32_t* row_lengths;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    const auto stored = static_cast<std::int32_t>(s);
    const std::int64_t length = s < a.rows ? length_of(stored) : 0;
    std::int64_t at = a.begin(stored);
    for (std::int64_t k = 0; k < a.width_of(stored); ++k, at += a.slice_rows) {
      if (k < length) {
        a.col_indices[at] -= static_cast<std::int32_t>(a.base);
      } else {
        a.col_indices[at] = SellView<T>::padding_column;
        a.values[at] = T{};
      }
    }
    return {};
  }

 private:
  constexpr std::int64_t length_of(std::int32_t s) const {
    if (row_lengths) return row_lengths[s];
    const auto base = static_cast<std::int32_t>(a.base);
    std::int64_t length = a.width_of(s);
    const auto place = [&](std::int64_t k) { return a.begin(s) + k * a.slice_rows; };
    for (; length > 0; --length) {
      const std::int64_t at = place(length - 1);
      const std::int32_t before = length > 1 ? a.col_indices[place(length - 2)] : base;
      const bool is_padding = padding == Padding::minus_one     ? a.col_indices[at] < base
                              : padding == Padding::last_column ? a.col_indices[at] == before && a.values[at] == T{}
                                                                : a.col_indices[at] == base && a.values[at] == T{};
      if (!is_padding) break;
    }
    return length;
  }
};

}  // namespace krill
