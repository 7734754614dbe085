// Which entries of a list are kept: a bit for each, from which each tells where it goes.
#pragma once
#include <bit>

#include "sparse/core/pass.hpp"
#include "sparse/formats/shape.hpp"

namespace krill::detail {

/// 32 entries that lie side by side.
struct KeptWord {
  std::uint32_t bits;    ///< of those that are kept
  std::uint32_t before;  ///< entries that are kept in the same tile before these
};

/// Of a list: words in whole tiles, and what is kept before each tile, with the sum of all behind the last.
struct Kept {
  static constexpr int word = 32, words = 64, tile = word * words;

  const KeptWord* in_words;
  const std::int64_t* starts;

  static constexpr std::int64_t tiles(std::int64_t size) { return ceil_div(size, std::int64_t{tile}); }
  constexpr bool has(std::int64_t k) const { return in_words[k / word].bits >> k % word & 1; }
  /// Entries kept before entry k; k may be the size of the list.
  constexpr std::int64_t before(std::int64_t k) const {
    if (k % tile == 0) return starts[k / tile];
    const KeptWord w = in_words[k / word];
    return starts[k / tile] + w.before + std::popcount(w.bits & ((std::uint32_t{1} << k % word) - 1));
  }
};

/// to[i] = entries kept before entry from[i] - from[0].
template <class Offset>
struct KeptOffsets {
  using Sum = NoSum;
  Kept kept;
  const Offset* from;
  Offset* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    to[i] = static_cast<Offset>(kept.before(from[i] - from[0]));
    return {};
  }
};

/// counts[i] = entries kept of row i; total = all. Over the rows.
template <class Offset>
struct CountKept {
  using Sum = std::int64_t;
  Kept kept;
  const Offset* row_offsets;
  std::int32_t* counts;
  std::int64_t* total;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const Offset first = row_offsets[0];
    const std::int64_t count = kept.before(row_offsets[i + 1] - first) - kept.before(row_offsets[i] - first);
    counts[i] = static_cast<std::int32_t>(count);
    return count;
  }
  constexpr void finish(Sum sum) const { *total = sum; }
};

/// Marks the values above the threshold, and counts them in each tile.
template <class T>
void mark_above(const Host&, std::int64_t size, const T* values, double threshold, KeptWord* words,
                std::int64_t* counts);
template <class T>
void mark_above(const Cuda&, std::int64_t size, const T* values, double threshold, KeptWord* words,
                std::int64_t* counts);

/// Columns and values of a list of entries.
template <class T>
struct EntryList {
  as_const_as<T, std::int32_t>* columns;
  T* values;
};

/// to = the entries of `from`, `size` of them, that are kept, one after the other.
template <class T>
void copy_kept(const Host&, std::int64_t size, const Kept&, const EntryList<const T>& from, const EntryList<T>& to);
template <class T>
void copy_kept(const Cuda&, std::int64_t size, const Kept&, const EntryList<const T>& from, const EntryList<T>& to);

}  // namespace krill::detail
