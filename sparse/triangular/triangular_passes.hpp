// A triangle as plans keep it, and the entry-by-entry parts of making it.
#pragma once
#include <limits>
#include <span>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/array.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/formats/dense.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill::detail {

inline constexpr std::int32_t task_rows = 32;
inline constexpr std::int32_t no_place = -1;
/// Entries of the longest row of a slice that lanes compute side by side on CUDA; beyond, each row has a warp.
inline constexpr std::int32_t max_shared_entries = 32;

/// The rows that a warp computes at a time. If `place` >= 0, these are the 32 rows (fewer at the end) from that place
/// on, a lane each; entry k of the r-th of them lies at begin + 32 k + r. If it is negative, all lanes share the one
/// row at ~place, whose entries lie at begin, begin + 1, ...
///
/// `gate` is the place of a row three waits earlier, or no_place: the warp waits for that row first, since looking at
/// its entries before would only slow others down. A task whose rows wait for each other is `mixed`.
struct TriangularTask {
  std::int64_t begin;
  std::int32_t place, width;
  std::int32_t gate = no_place;
  std::int32_t mixed = 0;

  constexpr bool is_one_row() const { return place < 0; }
};

/// A triangle without its diagonal, rows at the places of an order. On the host rows lie one after the other, that of a
/// place from begins[place] on. On CUDA slice s has the places 32 s to 32 s + 31 and the tasks slice_tasks[s] to
/// slice_tasks[s + 1] - 1. Columns are rows or places, as the pass that fills them chooses; no_place where there is no
/// entry.
template <class T>
struct TriangleView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0;
  const std::int32_t* order = nullptr;
  const std::int64_t* begins = nullptr;  ///< on the host
  const std::int64_t* slice_tasks = nullptr;
  const TriangularTask* tasks = nullptr;
  const std::int32_t* columns = nullptr;
  T* values = nullptr;
  T* inverses = nullptr;     ///< of the diagonal, at each place; null: ones
  double mean_width = 0;     ///< entries of a row
  std::int32_t longest = 0;  ///< entries of the longest row

  constexpr TriangularTask task_of(std::int64_t place) const {
    const std::int64_t first = slice_tasks[place / task_rows];
    const TriangularTask task = tasks[first];
    return task.is_one_row() ? tasks[first + place % task_rows] : task;
  }
  /// Calls f(k, at) for every entry that a place has room for; the k-th lies at `at`.
  template <class F>
  constexpr void for_slots(std::int64_t place, F&& f) const {
    if (begins) {
      for (std::int64_t at = begins[place]; at < begins[place + 1]; ++at)
        f(static_cast<std::int32_t>(at - begins[place]), at);
      return;
    }
    const TriangularTask task = task_of(place);
    const std::int32_t stride = task.is_one_row() ? 1 : task_rows;
    std::int64_t at = task.begin + (task.is_one_row() ? 0 : place % task_rows);
    for (std::int32_t k = 0; k < task.width; ++k, at += stride) f(k, at);
  }
  /// f(column, value) for the entries of a place, from far to near.
  template <class F>
  constexpr void for_entries(std::int64_t place, F&& f) const {
    for_slots(place, [&](std::int32_t, std::int64_t at) {
      if (columns[at] != no_place) f(columns[at], values[at]);
    });
  }
};

/// Where the entries of a place's row lie in the matrix: from `first` on, forward in a lower triangle and backward in
/// an upper one, so that those nearest to the diagonal come last.
template <class Offset>
struct TriangleRow {
  Offset first = 0;
  Offset diagonal = -1;  ///< -1: none
  std::int32_t count = 0;
};

/// Counts over the rows of a triangle.
struct TriangleCount {
  std::int64_t entries = 0;
  std::int32_t missing = no_row;  ///< the first row without a diagonal
  std::int32_t longest = 0;       ///< row
  constexpr TriangleCount& operator+=(TriangleCount other) {
    entries += other.entries;
    if (other.missing < missing) missing = other.missing;
    if (other.longest > longest) longest = other.longest;
    return *this;
  }
};

/// The rows of the triangle. Over the places.
template <class Offset>
struct LocateRows {
  using Sum = TriangleCount;
  Steps steps;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  const std::int32_t* order;
  TriangleRow<Offset>* rows;
  std::int32_t* counts;
  TriangleCount* count;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t place) const {
    const std::int32_t i = order[place];
    const Offset from = row_offsets[i], to = row_offsets[i + 1], near = lower_entry(col_indices, from, to, i);
    const bool has = near < to && col_indices[near] == i;
    TriangleRow<Offset> row;
    if (has) row.diagonal = near;
    if (steps.fill == Fill::lower) {
      row.first = from;
      row.count = static_cast<std::int32_t>(near - from);
    } else {
      row.first = to - 1;
      row.count = static_cast<std::int32_t>(to - near - (has ? 1 : 0));
    }
    rows[place] = row, counts[place] = row.count;
    return {row.count, has ? no_row : i, row.count};
  }
  constexpr void finish(const Sum& sum) const { *count = sum; }
};

/// Tasks and entries of each slice: its rows are a task each where the longest has more than `max_shared_entries`.
struct CountTasks {
  using Sum = NoSum;
  std::int32_t rows;
  const std::int32_t* counts;  // of each place
  std::int64_t *tasks, *entries;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t slice) const {
    const std::int64_t first = slice * task_rows, end = first + task_rows < rows ? first + task_rows : rows;
    std::int64_t all = 0;
    std::int32_t widest = 0;
    for (std::int64_t place = first; place < end; ++place) {
      all += counts[place];
      if (counts[place] > widest) widest = counts[place];
    }
    const bool apart = widest > max_shared_entries;
    tasks[slice] = apart ? end - first : 1;
    entries[slice] = apart ? all : std::int64_t{widest} * task_rows;
    return {};
  }
};

/// The tasks of each slice.
struct FillTasks {
  using Sum = NoSum;
  std::int32_t rows;
  const std::int32_t* counts;
  const std::int64_t *slice_tasks, *slice_entries;
  TriangularTask* tasks;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t slice) const {
    const std::int64_t first = slice * task_rows, end = first + task_rows < rows ? first + task_rows : rows;
    std::int64_t at = slice_entries[slice];
    TriangularTask* to = tasks + slice_tasks[slice];
    if (slice_tasks[slice + 1] - slice_tasks[slice] == 1 && !is_alone(slice, end - first)) {
      *to = {at, static_cast<std::int32_t>(first),
             static_cast<std::int32_t>((slice_entries[slice + 1] - at) / task_rows)};
      return {};
    }
    for (std::int64_t place = first; place < end; ++place, ++to) {
      *to = {at, ~static_cast<std::int32_t>(place), counts[place]};
      at += counts[place];
    }
    return {};
  }
  /// Whether the slice has one row, and that is a task of its own.
  constexpr bool is_alone(std::int64_t slice, std::int64_t places) const {
    return places == 1 && counts[slice * task_rows] > max_shared_entries;
  }
};

/// The columns at each place, as rows or as places.
template <class Offset>
struct FillTriangleColumns {
  using Sum = NoSum;
  Steps steps;
  TriangleView<const NoValue> to;
  const TriangleRow<Offset>* rows;
  const std::int32_t* col_indices;
  const std::int32_t* inverse;  // null: columns are rows
  std::int32_t* columns;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t place) const {
    const TriangleRow<Offset> row = rows[place];
    const std::int32_t step = steps.fill == Fill::lower ? 1 : -1;
    to.for_slots(place, [&](std::int32_t k, std::int64_t at) {
      if (k < row.count) {
        const std::int32_t col = col_indices[row.first + step * k];
        columns[at] = inverse ? inverse[col] : col;
      } else {
        columns[at] = no_place;
      }
    });
    return {};
  }
};

/// The gates of tasks and which are mixed, where columns are places. Over the tasks.
struct FindWaits {
  using Sum = NoSum;
  static constexpr int waits_before = 3;
  TriangleView<const NoValue> a;
  TriangularTask* tasks;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t t) const {
    TriangularTask& task = tasks[t];
    if (task.is_one_row()) return {};
    const std::int32_t end = task.place + task_rows < a.rows ? task.place + task_rows : a.rows;
    for (std::int64_t at = task.begin; at < task.begin + std::int64_t{task.width} * task_rows; ++at)
      if (a.columns[at] >= task.place) task.mixed = 1;
    std::int32_t gate = task.place + (end - task.place) / 2;
    // A task must not wait for itself.
    for (int wait = 0; gate != no_place && (wait < waits_before || gate >= task.place); ++wait)
      gate = last_awaited(gate);
    task.gate = gate;
    return {};
  }
  constexpr std::int32_t last_awaited(std::int32_t place) const {
    std::int32_t last = no_place;
    a.for_slots(place, [&](std::int32_t, std::int64_t at) {
      if (a.columns[at] > last) last = a.columns[at];
    });
    return last;
  }
};

/// Values and inverses of the diagonal, and the first row whose diagonal is zero. Over the places.
template <class T, class Offset>
struct FillTriangle {
  using Sum = FirstRow;
  Steps steps;
  TriangleView<T> to;
  const TriangleRow<Offset>* rows;
  const T* from;
  const Offset* permutation;  // entry k of the pattern is entry permutation[k] of `from`; null: entry k
  bool conjugate;
  FirstRow* zero;

  constexpr bool begin() const { return true; }
  constexpr T value(Offset k) const { return conj_if(conjugate, from[permutation ? permutation[k] : k]); }
  constexpr Sum entry(std::int64_t place) const {
    const TriangleRow<Offset> row = rows[place];
    const std::int32_t step = steps.fill == Fill::lower ? 1 : -1;
    to.for_slots(place, [&](std::int32_t k, std::int64_t at) {
      to.values[at] = k < row.count ? value(row.first + step * k) : T{};
    });
    if (!to.inverses) return {};
    const T diagonal = row.diagonal >= 0 ? value(row.diagonal) : T{};
    to.inverses[place] = T(1) / diagonal;
    return {row.diagonal >= 0 && diagonal == T{} ? to.order[place] : no_row};
  }
  constexpr void finish(const Sum& sum) const { *zero = sum; }
};

/// x = alpha op(A)^-1 b, by the rows of `a`; for many columns at once.
template <class T>
struct TriangularSolve {
  TriangleView<const T> a;
  ScalarView<T> alpha;
  DenseView<const T> b;
  DenseView<T> x;
};

/// One row after the other, or the rows of a level at a time where `levels` says where each begins. Columns are rows.
template <class T>
void run_solve(const Host&, const TriangularSolve<T>&, std::span<const std::int32_t> levels);
/// One kernel a level. Columns are rows.
template <class T>
void run_solve(const Cuda&, const TriangularSolve<T>&, std::span<const std::int32_t> levels);

/// In one kernel, where rows wait for each other. Columns are places, and place_of[row] is that of a row. Scratch: a
/// solution in the order of places, of the columns that a kernel solves for, 8 at most.
template <class T>
void run_awaited_solve(const Cuda&, const TriangularSolve<T>&, const std::int32_t* place_of, std::int64_t tasks);
/// One block for a column, which goes through the levels; level l has the places bounds[l] to bounds[l + 1] - 1.
/// Columns are places. Scratch: a solution in the order of places, of 32 columns at most.
template <class T>
void run_one_block_solve(const Cuda&, const TriangularSolve<T>&, const std::int32_t* bounds, std::int32_t levels);

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct TriangularPasses {
  static constexpr auto list = passes<Where, LocateRows<Offset>, FillTriangleColumns<Offset>, FillTriangle<T, Offset>,
                                      CountTasks, FillTasks, FindWaits>;
  static constexpr auto kernel =
      instance<void(const Where&, const TriangularSolve<T>&, std::span<const std::int32_t>)>(run_solve);
};

}  // namespace krill::detail
