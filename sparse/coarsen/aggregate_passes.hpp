// The passes that make aggregates around roots.
#pragma once
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/io/counter_random.hpp"

namespace krill::detail {

/// What a row is in the search for roots, in the order of keys: out, within two edges of a root or without a neighbor;
/// open; a root. The key of an open row changes with the round: a hash, and the row where hashes are equal.
struct RootKey {
  using Word = std::uint64_t;
  static constexpr Word out = 0, open = Word{1} << 62, root = Word{2} << 62;
  static constexpr Word kind(Word key) { return key >> 62 << 62; }
  static constexpr Word of_open(std::int32_t row, int round) {
    const Word hash = CounterRandom(round, 1).bits(row) >> 34;
    return open | hash << 32 | static_cast<std::uint32_t>(row);
  }
};

/// keys: open where a row has neighbors. Over the rows.
template <class Offset>
struct StartRoots {
  using Sum = NoSum;
  const Offset* row_offsets;
  std::uint64_t *keys, *greatest;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    keys[i] = row_offsets[i] < row_offsets[i + 1] ? RootKey::open : RootKey::out;
    greatest[i] = keys[i];
    return {};
  }
};

/// greatest_i = the greatest key of row i and its neighbors. Where that is a root's, or out, it stays. Over the rows.
template <class Offset>
struct SpreadKeys {
  using Sum = NoSum;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  int round;
  const std::uint64_t* keys;
  std::uint64_t* greatest;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    if (RootKey::kind(greatest[i]) != RootKey::open) return {};
    std::uint64_t most = key(static_cast<std::int32_t>(i));
    for (Offset k = row_offsets[i]; k < row_offsets[i + 1]; ++k)
      if (const std::uint64_t other = key(col_indices[k]); other > most) most = other;
    greatest[i] = most;
    return {};
  }
  constexpr std::uint64_t key(std::int32_t row) const {
    const std::uint64_t stored = keys[row];
    return stored == RootKey::open ? RootKey::of_open(row, round) : stored;
  }
};

/// How many rows are open.
struct OpenRowCount {
  std::int64_t value = 0;
  constexpr OpenRowCount& operator+=(OpenRowCount other) { return value += other.value, *this; }
};

/// An open row whose key is the greatest within two edges is a root; one that has a root there is out. Over the rows.
template <class Offset>
struct DecideRoots {
  using Sum = OpenRowCount;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  int round;
  const std::uint64_t* greatest;
  std::uint64_t* keys;
  OpenRowCount* left;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    if (keys[i] != RootKey::open) return {};
    std::uint64_t most = greatest[i];
    for (Offset k = row_offsets[i]; k < row_offsets[i + 1]; ++k)
      if (const std::uint64_t other = greatest[col_indices[k]]; other > most) most = other;
    if (most >= RootKey::root)
      keys[i] = RootKey::out;
    else if (most == RootKey::of_open(static_cast<std::int32_t>(i), round))
      keys[i] = RootKey::root | static_cast<std::uint32_t>(i);
    else
      return {1};
    return {};
  }
  constexpr void finish(const Sum& sum) const { *left = sum; }
};

/// counts_i = 1 for a root, else 0. Over the rows.
struct CountRoots {
  using Sum = NoSum;
  const std::uint64_t* keys;
  std::int32_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return counts[i] = keys[i] >= RootKey::root, NoSum{}; }
};

/// near_i = the number of the root that row i is, or is beside; else -1. Over the rows.
template <class Offset>
struct JoinRoots {
  using Sum = NoSum;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  const std::uint64_t* keys;
  const std::int32_t* numbers;  ///< of roots before each row
  std::int32_t* near;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    std::int32_t root = keys[i] >= RootKey::root ? static_cast<std::int32_t>(i) : -1;
    for (Offset k = row_offsets[i]; root < 0 && k < row_offsets[i + 1]; ++k)
      if (keys[col_indices[k]] >= RootKey::root) root = col_indices[k];
    near[i] = root < 0 ? -1 : numbers[root];
    return {};
  }
};

/// of_row_i = near_i, or for a row that is beside no root the aggregate of its neighbors that it is bound to most. Over
/// the rows.
template <class T, class Offset>
struct JoinNeighbors {
  using Sum = NoSum;
  static constexpr std::int64_t max_summed = 64;  ///< neighbors: the work grows with the square of their number
  CsrView<const T, Offset> a;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  const std::int32_t* near;
  std::int32_t* of_row;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    std::int32_t best = near[i];
    if (best < 0) {
      const bool is_long = row_offsets[i + 1] - row_offsets[i] > max_summed;
      double greatest = -1;
      std::uint64_t greatest_hash = 0;
      for (Offset k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
        const std::int32_t aggregate = near[col_indices[k]];
        if (aggregate < 0 || (!is_long && is_known(i, k, aggregate))) continue;
        const double bond = is_long ? weight(i, col_indices[k]) : bond_to(i, k, aggregate);
        const std::uint64_t hash = CounterRandom(0, 2).bits(aggregate);
        if (bond > greatest || (bond == greatest && hash > greatest_hash))
          greatest = bond, greatest_hash = hash, best = aggregate;
      }
    }
    of_row[i] = best;
    return {};
  }

 private:
  /// Whether a neighbor before k is in the aggregate, too.
  constexpr bool is_known(std::int64_t i, Offset k, std::int32_t aggregate) const {
    for (Offset other = row_offsets[i]; other < k; ++other)
      if (near[col_indices[other]] == aggregate) return true;
    return false;
  }
  /// Of the neighbors from the first-th on. Both rows ascend, so one cursor goes along A's.
  constexpr double bond_to(std::int64_t i, Offset first, std::int32_t aggregate) const {
    double sum = 0;
    Offset at = a.row_offsets[i];
    for (Offset k = first; k < row_offsets[i + 1]; ++k) {
      if (near[col_indices[k]] != aggregate) continue;
      while (at < a.row_offsets[i + 1] && a.col_indices[at] < col_indices[k]) ++at;
      if (at < a.row_offsets[i + 1] && a.col_indices[at] == col_indices[k]) sum += double(magnitude(a.values[at]));
    }
    return sum;
  }
  /// |a_ij|, 0 where it is a_ji alone that is stored.
  constexpr double weight(std::int64_t i, std::int32_t j) const {
    Offset first = a.row_offsets[i], end = a.row_offsets[i + 1];
    while (first < end) {
      const Offset middle = first + (end - first) / 2;
      if (a.col_indices[middle] < j)
        first = middle + 1;
      else
        end = middle;
    }
    return first < a.row_offsets[i + 1] && a.col_indices[first] == j ? double(magnitude(a.values[first])) : 0.0;
  }
};

/// flags[row] = 1 where the row is in an aggregate. Over the rows.
struct FlagAggregated {
  using Sum = NoSum;
  const std::int32_t* of_row;
  std::int32_t* flags;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const { return flags[row] = of_row[row] >= 0, NoSum{}; }
};

/// The aggregates of the rows that are in one, in the order of rows. Over the rows.
struct PackAggregates {
  using Sum = NoSum;
  const std::int32_t *of_row, *offsets;
  std::int32_t* packed;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    if (of_row[row] >= 0) packed[offsets[row]] = of_row[row];
    return {};
  }
};

/// What is compiled for each backend.
template <class Where>
struct AggregatePasses {
  static constexpr auto list = passes<Where, CountRoots, FlagAggregated, PackAggregates>;
};
template <class Offset, class Where>
struct RootPasses {
  static constexpr auto list =
      passes<Where, StartRoots<Offset>, SpreadKeys<Offset>, DecideRoots<Offset>, JoinRoots<Offset>>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct JoinPasses {
  static constexpr auto list = passes<Where, JoinNeighbors<T, Offset>>;
};

}  // namespace krill::detail
