// The parts of an incomplete factorization: what is found once, and what kernels get.
#pragma once
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/factor/boost.hpp"
#include "sparse/factor/fill_passes.hpp"

namespace krill::detail {

inline constexpr std::int32_t max_entries = 127;  ///< of a row that is not long: what 7 bits tell
inline constexpr std::uint8_t pivot_bit = 128;    ///< of an item's code, whose other bits are its slot

/// Which entries are factored.
template <class Offset>
struct FactorPattern {
  CsrView<const NoValue, Offset> a;
  const Offset* diagonals;  ///< of each row, where its entries from the diagonal on begin
  bool cholesky;            ///< the lower triangle alone

  constexpr bool has_diagonal(std::int32_t i) const {
    return diagonals[i] < a.row_offsets[i + 1] && a.col_indices[diagonals[i]] == i;
  }
  /// The entries of row i that are factored end here.
  constexpr Offset end(std::int32_t i) const {
    return cholesky ? diagonals[i] + (has_diagonal(i) ? 1 : 0) : a.row_offsets[i + 1];
  }
  /// Other rows wait for the entries of row i from this one on.
  constexpr Offset awaited_from(std::int32_t i) const { return cholesky ? a.row_offsets[i] : diagonals[i]; }
  /// Row i has more entries than the slots of items tell.
  constexpr bool is_long(std::int32_t i) const { return end(i) - a.row_offsets[i] > max_entries; }

  /// Which entries may meet entry e = (i, above), which is left of the diagonal: [first, end). LU: those of row `above`
  /// right of its diagonal, which meet entries of row i. Cholesky: those of row i between e and the diagonal, which
  /// meet entries of other rows in column `above`.
  struct Candidates {
    Offset first, end;
  };
  constexpr Candidates candidates(std::int32_t i, Offset e, std::int32_t above) const {
    if (cholesky) return {e + 1, diagonals[i]};
    return {diagonals[above] + (has_diagonal(above) ? 1 : 0), a.row_offsets[above + 1]};
  }
  /// Entry `at` of row `row` times e is subtracted from the entry in `slot` of row i, counted from its first.
  struct Item {
    std::int32_t row;
    Offset at;
    int slot;
    bool meets;
  };
  constexpr Item item(std::int32_t i, Offset e, std::int32_t above, Offset candidate) const {
    const Offset first = a.row_offsets[i];
    const std::int32_t col = a.col_indices[candidate];
    if (cholesky) {
      const Offset found = lower_entry(a.col_indices, a.row_offsets[col], diagonals[col], above);
      return {col, found, static_cast<int>(candidate - first), found < diagonals[col] && a.col_indices[found] == above};
    }
    const Offset row_end = end(i), found = lower_entry(a.col_indices, e + 1, row_end, col);
    return {above, candidate, static_cast<int>(found - first), found < row_end && a.col_indices[found] == col};
  }

  /// -1: it has none.
  constexpr Offset pivot_of(std::int32_t row) const { return has_diagonal(row) ? diagonals[row] : Offset{-1}; }

  /// f(item, is_pivot) for the items of row i, in the order in which it uses them: for each entry left of the diagonal
  /// the pivot by which it is divided (at < 0: that row has none; slot: the entry's own), then what it meets.
  template <class F>
  constexpr void for_items(std::int32_t i, F&& f) const {
    for (Offset e = a.row_offsets[i]; e < diagonals[i]; ++e) {
      const std::int32_t above = a.col_indices[e];
      f(Item{above, pivot_of(above), static_cast<int>(e - a.row_offsets[i]), true}, true);
      const Candidates all = candidates(i, e, above);
      for (Offset candidate = all.first; candidate < all.end; ++candidate)
        if (const Item found = item(i, e, above, candidate); found.meets) f(found, false);
    }
  }
};

/// diagonals, and the first row without one. Over the rows.
template <class Offset>
struct FindDiagonals {
  using Sum = FirstRow;
  CsrView<const NoValue, Offset> a;
  Offset* diagonals;
  FirstRow* missing;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const Offset near = lower_entry(a, i, i), end = a.row_offsets[i + 1];
    diagonals[i] = near;
    return {near < end && a.col_indices[near] == i ? no_row : static_cast<std::int32_t>(i)};
  }
  constexpr void finish(const Sum& sum) const { *missing = sum; }
};

// How CUDA factors: rows in the order of levels, a team of lanes each; the rows of a warp are a slice. The analysis has
// found what a row waits for, its items. Lane j % lanes of the row's team has item j, as its number j / lanes.
// Entries that others wait for are published in an array of their own in the same way: in the order of levels, so that
// what is waited for together lies together (in the order of the matrix, the rows of a level lie all over it).

/// Where number j of a team's items (or published entries) lies, counted from the first one of its first lane.
constexpr std::int64_t team_place(std::int32_t lanes, std::int32_t j) {
  return static_cast<std::int64_t>(j / lanes) * 32 + j % lanes;
}

struct FactorTuning {
  /// Of a team that is not one lane alone. 8 took 8.1 ms in place of 7.2 for the 27-point matrix on an H200
  /// (docs/performance.md, incomplete factorizations).
  static constexpr std::int32_t team_lanes = 16;
  static constexpr std::int64_t max_items_alone = 16;  ///< of a mean row that one lane takes. Not varied.
};
inline constexpr std::int32_t team_lanes = FactorTuning::team_lanes;

/// A row, as CUDA factors it.
template <class Offset>
struct FactorRow {
  std::int64_t published = 0;  ///< where what it publishes begins
  Offset begin = 0;            ///< its first entry
  std::int32_t row = 0;
  std::uint16_t items = 0;
  std::uint8_t entries = 0, lower = 0;  ///< that are factored; of them, left of the diagonal
  std::uint8_t turn = 0;                ///< levels between the slice's first row and this one
  bool has_diagonal = false, is_long = false;
};

/// Counts over the rows: all items; of rows that are not long, the most items and the most entries; long rows.
struct ItemFacts {
  std::int64_t items = 0;
  std::int32_t max_items = 0, longest = 0, long_rows = 0;
  constexpr ItemFacts& operator+=(ItemFacts other) {
    items += other.items, long_rows += other.long_rows;
    if (other.max_items > max_items) max_items = other.max_items;
    if (other.longest > longest) longest = other.longest;
    return *this;
  }
};

/// Lanes that share a row on CUDA: one lane if rows have few items and their entries fit its share of shared memory.
constexpr std::int32_t factor_lanes(const ItemFacts& facts, std::int32_t rows, std::size_t scalar_bytes) {
  constexpr std::size_t shared_bytes = 48 * 1024;  // that a block of 256 threads has without asking for more
  constexpr std::size_t block_threads = 256, max_scalar_bytes = 16;
  static_assert(max_entries * (block_threads / team_lanes) * max_scalar_bytes <= shared_bytes);
  const auto max_alone = static_cast<std::int32_t>(shared_bytes / block_threads / scalar_bytes);
  const bool has_few = facts.items <= FactorTuning::max_items_alone * rows;
  return has_few && (facts.longest | 1) <= max_alone ? 1 : team_lanes;
}

/// The number of items of each row; -1 for long ones. Over the rows.
template <class Offset>
struct CountItems {
  using Sum = NoSum;
  FactorPattern<Offset> p;
  std::int32_t* items;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    const auto i = static_cast<std::int32_t>(k);
    std::int32_t count = 0;
    if (p.is_long(i))
      count = -1;
    else
      p.for_items(i, [&](const auto&, bool) { ++count; });
    return items[i] = count, NoSum{};
  }
};

/// What there is of items. Over the rows.
template <class Offset>
struct AddItems {
  using Sum = ItemFacts;
  FactorPattern<Offset> p;
  const std::int32_t* items;
  ItemFacts* facts;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const {
    const auto i = static_cast<std::int32_t>(k);
    const std::int32_t count = items[i];
    if (count < 0) return {0, 0, 0, 1};
    return {count, count, static_cast<std::int32_t>(p.end(i) - p.a.row_offsets[i]), 0};
  }
  constexpr void finish(const Sum& sum) const { *facts = sum; }
};

/// The level of a place.
constexpr std::int32_t level_of(const std::int32_t* level_offsets, std::int32_t levels, std::int64_t place) {
  std::int32_t low = 0, high = levels - 1;
  while (low < high) {
    const std::int32_t middle = low + (high - low + 1) / 2;
    if (level_offsets[middle] <= place)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Places of the items of a slice, and of what it publishes: as many for each lane as the one with the most needs; a
/// long row publishes what it has after those. Over the slices.
template <class Offset>
struct LaySlices {
  using Sum = NoSum;
  FactorPattern<Offset> p;
  const std::int32_t *order, *items;
  std::int32_t lanes;
  std::int64_t *item_lengths, *published_lengths;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t slice) const {
    const std::int64_t first = slice * (32 / lanes), end = first + 32 / lanes;
    std::int64_t max_items = 0, max_published = 0, published_by_long = 0;
    for (std::int64_t place = first; place < end && place < p.a.rows; ++place) {
      const std::int32_t i = order[place];
      const std::int64_t published = p.end(i) - p.awaited_from(i);
      if (items[i] < 0)
        published_by_long += published;
      else if (published > max_published)
        max_published = published;
      if (items[i] > max_items) max_items = items[i];
    }
    item_lengths[slice] = (max_items + lanes - 1) / lanes * 32;
    published_lengths[slice] = (max_published + lanes - 1) / lanes * 32 + published_by_long;
    return {};
  }
};

/// What the kernel needs of each row, in the order of levels. Over the places.
template <class Offset>
struct FillRows {
  using Sum = NoSum;
  FactorPattern<Offset> p;
  const std::int32_t *order, *items, *level_offsets;
  std::int32_t levels, lanes;
  const std::int64_t* published;
  FactorRow<Offset>* rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t place) const {
    const std::int64_t slice = place / (32 / lanes), first = slice * (32 / lanes);
    const std::int32_t i = order[place];
    FactorRow<Offset> row;
    row.begin = p.a.row_offsets[i];
    row.row = i;
    row.turn =
        static_cast<std::uint8_t>(level_of(level_offsets, levels, place) - level_of(level_offsets, levels, first));
    row.has_diagonal = p.has_diagonal(i);
    row.is_long = items[i] < 0;
    if (row.is_long) {  // they lie behind the others, the first one last
      row.published = published[slice + 1];
      for (std::int64_t other = first; other <= place; ++other)
        if (const std::int32_t o = order[other]; items[o] < 0) row.published -= p.end(o) - p.awaited_from(o);
    } else {
      row.items = static_cast<std::uint16_t>(items[i]);
      row.entries = static_cast<std::uint8_t>(p.end(i) - row.begin);
      row.lower = static_cast<std::uint8_t>(p.diagonals[i] - row.begin);
      row.published = published[slice] + (place - first) * lanes;
    }
    rows[place] = row;
    return {};
  }
};

/// Where number j of what a row publishes is.
template <class Offset>
constexpr std::int64_t published_position(const FactorRow<Offset>& row, std::int32_t lanes, std::int64_t j) {
  return row.published + (row.is_long ? j : team_place(lanes, static_cast<std::int32_t>(j)));
}

/// Where what a row publishes lies.
template <class Offset>
struct PublishedRow {
  std::int64_t begin;
  Offset awaited_from;
  std::int32_t is_long;

  constexpr Offset position(std::int32_t lanes, Offset entry) const {
    const auto j = static_cast<std::int32_t>(entry - awaited_from);
    return static_cast<Offset>(begin + (is_long ? j : team_place(lanes, j)));
  }
};

/// Where the items of rows go.
template <class Offset>
struct ItemPlaces {
  std::int32_t lanes;
  const FactorRow<Offset>* rows;
  const std::int32_t* inverse;  ///< row to place
  const std::int64_t* slices;
  Offset* positions;
  std::uint8_t* codes;

  /// Of the row's first item.
  constexpr std::int64_t first(std::int64_t place) const {
    const std::int32_t rows_a_slice = 32 / lanes;
    return slices[place / rows_a_slice] + place % rows_a_slice * lanes;
  }
  constexpr PublishedRow<Offset> published(const FactorPattern<Offset>& p, std::int32_t row) const {
    const FactorRow<Offset>& found = rows[inverse[row]];
    return {found.published, p.awaited_from(row), found.is_long};
  }
  /// at < 0: what there is none of.
  constexpr void store(std::int64_t to, const PublishedRow<Offset>& row, Offset at, int slot, bool is_pivot) const {
    positions[to] = at < 0 ? Offset{-1} : row.position(lanes, at);
    codes[to] = static_cast<std::uint8_t>(slot | (is_pivot ? pivot_bit : 0));
  }
};

/// The items of rows that are a lane's each. Over the rows, as neighbors read the same rows, and cache lines of items
/// fill up soon.
template <class Offset>
struct FillItems {
  using Sum = NoSum;
  FactorPattern<Offset> p;
  ItemPlaces<Offset> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    const auto i = static_cast<std::int32_t>(k);
    if (p.is_long(i)) return {};
    const std::int64_t first = to.first(to.inverse[i]);
    std::int32_t j = 0;
    p.for_items(i, [&](const auto& item, bool is_pivot) {
      to.store(first + team_place(to.lanes, j++), to.published(p, item.row), item.at, item.slot, is_pivot);
    });
    return {};
  }
};

/// The number of items of each row, as CountItems has it.
template <class Offset>
void count_items_of_rows(const Host&, const FactorPattern<Offset>&, std::int32_t* items);
template <class Offset>
void count_items_of_rows(const Cuda&, const FactorPattern<Offset>&, std::int32_t* items);
/// The items themselves. By a lane a row, or by a team.
template <class Offset>
void fill_items(const Host&, const FactorPattern<Offset>&, const ItemPlaces<Offset>&);
template <class Offset>
void fill_items(const Cuda&, const FactorPattern<Offset>&, const ItemPlaces<Offset>&);

/// The gate of each slice: a pivot of an earlier level, for which a slice waits before it waits for its items, since
/// many looks at once slow others down. It is the pivot of the row that has the same relative position in that level as
/// the slice has in its own. -1: there is none. Over the slices.
template <class Offset>
struct FindGates {
  using Sum = NoSum;
  static constexpr std::int32_t levels_before = 3;
  FactorPattern<Offset> p;
  const FactorRow<Offset>* rows;
  const std::int32_t* level_offsets;
  std::int32_t levels, lanes;
  Offset* gates;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t slice) const {
    const std::int64_t place = slice * (32 / lanes);
    const std::int32_t level = level_of(level_offsets, levels, place), before = level - levels_before;
    gates[slice] = -1;
    if (before < 0) return {};
    const auto width = [&](std::int32_t l) { return static_cast<double>(level_offsets[l + 1] - level_offsets[l]); };
    const double share = static_cast<double>(place - level_offsets[level]) / width(level);
    const FactorRow<Offset>& gate = rows[level_offsets[before] + static_cast<std::int32_t>(share * width(before))];
    if (gate.has_diagonal)
      gates[slice] =
          static_cast<Offset>(published_position(gate, lanes, p.diagonals[gate.row] - p.awaited_from(gate.row)));
    return {};
  }
};

/// What the kernel gets of the analysis.
template <class Offset>
struct FactorItems {
  std::int32_t lanes = 1, room = 0;  ///< of a row; room: values in shared memory
  std::int32_t max_of_a_row = 0;
  std::int64_t published = 0;  ///< values that rows publish
  bool has_long_rows = false;
  const FactorRow<Offset>* rows = nullptr;
  const std::int32_t* inverse = nullptr;  ///< row to place
  const std::int64_t* slices = nullptr;   ///< where the items of a slice begin
  const Offset* gates = nullptr;
  const Offset* positions = nullptr;
  const std::uint8_t* codes = nullptr;
};

/// No events yet.
struct ClearEvents {
  using Sum = NoSum;
  std::int32_t* events;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const { return events[e] = e == boosted_pivots_event ? 0 : no_row, NoSum{}; }
};

/// A factorization, as kernels see it.
template <class T, class Offset>
struct FactorTask {
  FactorPattern<Offset> p;
  const T* values = nullptr;  ///< to be factored
  T* to = nullptr;            ///< the factor's values, another array
  Boost<T> boost = {};
  double diagonal_factor = 1;  ///< of A's diagonal
  std::int32_t* events = nullptr;
  FactorItems<Offset> items = {};  ///< for CUDA

  /// What A has on its diagonal, as it is factored.
  constexpr T shifted(T diagonal) const { return scaled(diagonal, static_cast<real_t<T>>(diagonal_factor)); }
};

template <class T, class Offset>
void run_factorization(const Host&, const FactorTask<T, Offset>&);
template <class T, class Offset>
void run_factorization(const Cuda&, const FactorTask<T, Offset>&);

/// What is compiled for each backend. Without values:
template <class Offset, class Where>
struct ItemFunctions {
  static constexpr std::tuple list{
      instance<void(const Where&, const FactorPattern<Offset>&, std::int32_t*)>(count_items_of_rows),
      instance<void(const Where&, const FactorPattern<Offset>&, const ItemPlaces<Offset>&)>(fill_items)};
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct IncompletePasses {
  static constexpr auto list =
      passes<Where, FindDiagonals<Offset>, AddItems<Offset>, LaySlices<Offset>, FillRows<Offset>, FindGates<Offset>,
             ClearEvents, FindSources<Offset>, FillWithZeros<T, Offset>>;
  static constexpr auto kernel = instance<void(const Where&, const FactorTask<T, Offset>&)>(run_factorization);
};

}  // namespace krill::detail
