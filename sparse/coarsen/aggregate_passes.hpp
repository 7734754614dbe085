// The passes that make aggregates around roots.
#pragma once
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/counter_random.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// What a row is in the search for roots, in the order of keys: out, within two edges of a root or without a neighbor;
/// open; a root. The key of an open row changes with the round, and no two rows have the same.
struct RootKey {
  using Word = std::uint32_t;
  static constexpr Word out = 0, root = ~Word{0};
  static constexpr bool is_open(Word key) { return key != out && key != root; }
  /// A bijection of 31 bits: steps that can be taken back, each of which is so (xor with a shift, odd factors).
  static constexpr Word of_open(std::int64_t row, int round) {
    constexpr Word mask = 0x7fffffff;
    Word x = static_cast<Word>(row) ^ (static_cast<Word>(round) * 0x9e3779b9u & mask);
    x = (x ^ x >> 16) * 0x45d9f3bu & mask;
    x = (x ^ x >> 15) * 0x2c1b3c6du & mask;
    return (x ^ x >> 16) + 1;
  }
};

/// keys: those of the first round where a row has neighbors. Over the rows.
template <class Offset>
struct StartRoots {
  using Sum = std::int64_t;
  const Offset* row_offsets;
  RootKey::Word *keys, *greatest;
  std::int64_t* alone;  ///< rows without a neighbor

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const bool has_neighbors = row_offsets[i] < row_offsets[i + 1];
    keys[i] = greatest[i] = has_neighbors ? RootKey::of_open(i, 0) : RootKey::out;
    return !has_neighbors;
  }
  constexpr void finish(Sum sum) const { *alone = sum; }
};

/// The greatest key.
struct GreatestKey {
  RootKey::Word key = RootKey::out;
  constexpr GreatestKey& operator+=(GreatestKey other) {
    if (other.key > key) key = other.key;
    return *this;
  }
};

/// greatest_i = the greatest key of row i and its neighbors. Where that is a root's, or out, it stays. Over the rows'
/// neighbors.
template <class Offset>
struct SpreadKeys {
  using Item = GreatestKey;
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const RootKey::Word* keys;
  RootKey::Word* greatest;

  constexpr bool wants(std::int64_t row) const { return RootKey::is_open(greatest[row]); }
  constexpr Item entry(std::int64_t, std::int64_t k) const { return {keys[a.col_indices[k]]}; }
  constexpr Sum finish_row(std::int64_t row, Item item) const {
    item += {keys[row]};
    greatest[row] = item.key;
    return {};
  }
  constexpr void finish(const Sum&) const {}
};

/// An open row whose key is the greatest within two edges is a root; one that has a root there is out; others get the
/// keys of the next round. Adds up the rows that stay open. Over the rows' neighbors.
template <class Offset>
struct DecideRoots {
  using Item = GreatestKey;
  using Sum = std::int64_t;
  CsrView<const NoValue, Offset> a;
  int round;
  const RootKey::Word* greatest;
  RootKey::Word* keys;
  std::int64_t* open = nullptr;

  constexpr bool wants(std::int64_t row) const { return RootKey::is_open(keys[row]); }
  constexpr Item entry(std::int64_t, std::int64_t k) const { return {greatest[a.col_indices[k]]}; }
  constexpr Sum finish_row(std::int64_t row, Item item) const {
    item += {greatest[row]};
    const bool is_out = item.key == RootKey::root, is_root = item.key == keys[row];
    keys[row] = is_out ? RootKey::out : is_root ? RootKey::root : RootKey::of_open(row, round + 1);
    return !is_out && !is_root;
  }
  constexpr void finish(Sum sum) const { *open = sum; }
};

/// Spreads keys and decides, round by round, until no row is open: keys are those of roots, or out.
template <class Offset>
void find_roots(const Host&, const CsrView<const NoValue, Offset>&, RootKey::Word* keys, RootKey::Word* greatest);
template <class Offset>
void find_roots(const Cuda&, const CsrView<const NoValue, Offset>&, RootKey::Word* keys, RootKey::Word* greatest);

/// counts_i = 1 for a root, else 0. Over the rows.
struct CountRoots {
  using Sum = NoSum;
  const RootKey::Word* keys;
  std::int32_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return counts[i] = keys[i] == RootKey::root, NoSum{}; }
};

/// near_i = the number of the root that row i is, or is beside; else -1. Over the rows' neighbors.
template <class Offset>
struct JoinRoots {
  /// A root; -1: none. No row is beside two.
  struct Item {
    std::int32_t root = -1;
    constexpr Item& operator+=(Item other) {
      if (other.root > root) root = other.root;
      return *this;
    }
  };
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const RootKey::Word* keys;
  const std::int32_t* numbers;  ///< of roots before each row
  std::int32_t* near;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t, std::int64_t k) const {
    return {keys[a.col_indices[k]] == RootKey::root ? a.col_indices[k] : -1};
  }
  constexpr Sum finish_row(std::int64_t row, Item item) const {
    if (keys[row] == RootKey::root) item.root = static_cast<std::int32_t>(row);
    near[row] = item.root < 0 ? -1 : numbers[item.root];
    return {};
  }
};

/// of_row_i = near_i, or for a row that is beside no root the aggregate of its neighbors that it is bound to most, of
/// the first `max_compared` that they name. Over the rows.
template <class T, class Offset>
struct JoinNeighbors {
  using Sum = NoSum;
  static constexpr int max_compared = 16;  // Not varied
  CsrView<const T, Offset> a;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  const std::int32_t* near;
  std::int32_t* of_row;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    of_row[i] = near[i];
    if (near[i] >= 0) return {};
    std::int32_t aggregates[max_compared];
    double bonds[max_compared];
    int count = 0;
    const Offset begin = row_offsets[i], a_begin = a.row_offsets[i], a_end = a.row_offsets[i + 1];
    Offset at = a_begin;  // both rows ascend, so one cursor goes along A's
    for (Offset k = begin; k < row_offsets[i + 1]; ++k) {
      const std::int32_t j = col_indices[k], aggregate = near[j];
      if (aggregate < 0) continue;
      int place = 0;
      while (place < count && aggregates[place] != aggregate) ++place;
      if (place == max_compared) continue;
      if (place == count) aggregates[count] = aggregate, bonds[count++] = 0;
      const Offset likely = a_begin + (k - begin) + (j > i);  // where all neighbors are strong
      at = likely < a_end && a.col_indices[likely] == j ? likely : next_entry(a.col_indices, at, a_end, j);
      // an entry that is not there is a_ji, which is stored alone
      if (at < a_end && a.col_indices[at] == j) bonds[place] += double(magnitude(a.values[at]));
    }
    int best = 0;
    for (int place = 1; place < count; ++place)
      if (bonds[place] > bonds[best] ||
          (bonds[place] == bonds[best] && hash(aggregates[place]) > hash(aggregates[best])))
        best = place;
    if (count > 0) of_row[i] = aggregates[best];
    return {};
  }

 private:
  static constexpr std::uint64_t hash(std::int32_t aggregate) { return CounterRandom(0, 2).bits(aggregate); }
};

/// flags[row] = 1 where the row is in an aggregate. Over the rows.
struct FlagAggregated {
  using Sum = NoSum;
  const std::int32_t* of_row;
  std::int32_t* flags;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const { return flags[row] = of_row[row] >= 0, NoSum{}; }
};

/// numbers[i] = i, of rows that are all in an aggregate.
struct NumberMembers {
  using Sum = NoSum;
  std::int32_t* numbers;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return numbers[i] = static_cast<std::int32_t>(i), NoSum{}; }
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
  static constexpr auto list = passes<Where, CountRoots, FlagAggregated, NumberMembers, PackAggregates>;
};
template <class Offset, class Where>
struct RootPasses {
  template <class RowPass>
  using Reduce = void(const Where&, RowPass);
  static constexpr auto of_rows = passes<Where, StartRoots<Offset>>;
  static constexpr std::tuple list{instance<Reduce<JoinRoots<Offset>>>(reduce_rows)};
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct JoinPasses {
  static constexpr auto list = passes<Where, JoinNeighbors<T, Offset>>;
};

}  // namespace krill::detail
