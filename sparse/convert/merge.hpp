// The sorted rows of a group, merged by a key that ascends along each of them: the blocks that a block row meets, the
// diagonals that a hack meets. Each row keeps a cursor; the next key is the least of the cursors' keys, and the rows
// that have it go on. O(entries + keys x rows of a group).
//
//   struct Key {
//     constexpr std::int32_t of(std::int64_t row, std::int32_t col) const;     // the key of an entry
//     constexpr std::int64_t end(std::int64_t row, std::int32_t key) const;   // the first column with a greater key
//   };
//   struct Sink {
//     constexpr std::int64_t begin(std::int64_t group) const;                  // the number of the group's first key
//     constexpr void entry(std::int64_t at, std::int32_t key) const;           // each key, numbered from there on
//     constexpr void finish(std::int64_t group, std::int64_t end, std::int32_t lane, std::int32_t lanes) const;
//   };                                                                         // once in each of `lanes` threads
#pragma once
#include <limits>

#include "sparse/core/context.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

inline constexpr std::int32_t before_all_keys = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t no_key = std::numeric_limits<std::int32_t>::max();

/// The block column of an entry.
struct BlockColumn {
  std::int32_t col_dim;

  constexpr std::int32_t of(std::int64_t, std::int32_t col) const { return col / col_dim; }
  constexpr std::int64_t end(std::int64_t, std::int32_t key) const { return (std::int64_t{key} + 1) * col_dim; }
};

/// The diagonal of an entry: column minus row.
struct DiagonalKey {
  constexpr std::int32_t of(std::int64_t row, std::int32_t col) const { return static_cast<std::int32_t>(col - row); }
  constexpr std::int64_t end(std::int64_t row, std::int32_t key) const { return key + row + 1; }
};

/// counts[group] = how many keys it has.
struct CountKeys {
  std::int64_t* counts;

  constexpr std::int64_t begin(std::int64_t) const { return 0; }
  constexpr void entry(std::int64_t, std::int32_t) const {}
  constexpr void finish(std::int64_t group, std::int64_t end, std::int32_t lane, std::int32_t) const {
    if (lane == 0) counts[group] = end;
  }
};

/// The keys of a group from keys[starts[group]] on.
struct ListKeys {
  const std::int64_t* starts;
  std::int32_t* keys;

  constexpr std::int64_t begin(std::int64_t group) const { return starts[group]; }
  constexpr void entry(std::int64_t at, std::int32_t key) const { keys[at] = key; }
  constexpr void finish(std::int64_t, std::int64_t, std::int32_t, std::int32_t) const {}
};

/// `width` places for the keys of each group, with `padding` behind them.
struct ListKeysPadded {
  std::int64_t width;
  std::int32_t padding;
  std::int32_t* keys;

  constexpr std::int64_t begin(std::int64_t group) const { return group * width; }
  constexpr void entry(std::int64_t at, std::int32_t key) const { keys[at] = key; }
  constexpr void finish(std::int64_t group, std::int64_t end, std::int32_t lane, std::int32_t lanes) const {
    for (std::int64_t at = end + lane; at < (group + 1) * width; at += lanes) keys[at] = padding;
  }
};

/// How far a row has been merged.
template <class Offset>
struct RowCursor {
  Offset entry = 0, end = 0;
  std::int32_t key = no_key;  ///< of `entry`

  /// Before the first entry.
  static constexpr RowCursor of_row(const CsrView<const NoValue, Offset>& a, std::int64_t row) {
    return {a.row_offsets[row], a.row_offsets[row + 1], before_all_keys};
  }
  /// Goes on to the first entry whose key is greater than `last` and returns that; no_key where there is none.
  template <class Key>
  constexpr std::int32_t after(std::int32_t last, const std::int32_t* col_indices, const Key& key_of,
                               std::int64_t row) {
    if (key > last) return key;
    const std::int64_t key_end = key_of.end(row, last);
    while (entry < end && col_indices[entry] < key_end) ++entry;
    return key = entry < end ? key_of.of(row, col_indices[entry]) : no_key;
  }
};

/// Hands the different keys of each group of `group_rows` rows to the sink, ascending. A is zero-based and sorted.
template <class Offset, class Key, class Sink>
void merge_rows(const Host&, const CsrView<const NoValue, Offset>& a, std::int32_t group_rows, Key, Sink);
template <class Offset, class Key, class Sink>
void merge_rows(const Cuda&, const CsrView<const NoValue, Offset>& a, std::int32_t group_rows, Key, Sink);

/// What is compiled for each backend.
template <class Offset, class Where>
struct MergeKernels {
  template <class Key, class Sink>
  using Merge = void(const Where&, const CsrView<const NoValue, Offset>&, std::int32_t, Key, Sink);
  static constexpr std::tuple list{
      instance<Merge<BlockColumn, CountKeys>>(merge_rows), instance<Merge<BlockColumn, ListKeys>>(merge_rows),
      instance<Merge<BlockColumn, ListKeysPadded>>(merge_rows), instance<Merge<DiagonalKey, CountKeys>>(merge_rows),
      instance<Merge<DiagonalKey, ListKeys>>(merge_rows)};
};

}  // namespace krill::detail
