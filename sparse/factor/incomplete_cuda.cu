#include <limits>

#include "krill/sparse/factor/pivot.hpp"
#include "krill/sparse/triangular/turns.cuh"

namespace krill {
namespace {

constexpr int factor_threads = 256;

/// Items that a lane has under way at once: few, or more of those types that there are registers for.
constexpr int short_flight = 4;
template <class T>
constexpr int long_flight = sizeof(T) > 8 ? 4 : 8;

/// The lanes of a warp that share a row.
template <int lanes>
struct Team {
  int lane;
  unsigned first, mask;

  __device__ Team()
      : lane(static_cast<int>(threadIdx.x) % lanes),
        first(threadIdx.x % 32 / lanes * lanes),
        mask(lanes == 32 ? ~0u : ((1u << (lanes % 32)) - 1) << first) {}
  /// The value of a lane of the team; for all teams of `turn` at once.
  template <class V>
  __device__ V from(unsigned turn, V value, int source) const {
    return on_words(value, [&](unsigned word) { return __shfl_sync(turn, word, source, lanes); });
  }
  /// A bit for each lane of the team; for all teams of `turn` at once.
  __device__ unsigned ballot(unsigned turn, bool yes) const { return (__ballot_sync(turn, yes) & mask) >> first; }
};

/// Nothing is there yet. Over what rows show.
template <class T>
struct ClearShown {
  using Sum = NoSum;
  T* shown;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t k) const { return Awaited<T>::clear(shown + k), NoSum{}; }
};

/// What lies above the diagonal stays. Over the entries.
template <class T>
struct CopyValues {
  using Sum = NoSum;
  const T* from;
  T* to;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t k) const { return to[k] = from[k], NoSum{}; }
};

/// What stands for the inverse of a pivot that is missing: whoever asks must not wait for ever.
template <class T>
__device__ T inverse_of_none() {
  return T(std::numeric_limits<real_t<T>>::infinity());
}

/// What is shown at `at`, once it is there.
template <class T>
__device__ T awaited(const T* shown, std::int64_t at) {
  Awaited<T> value = Awaited<T>::none();
  while (!value.is_there()) value.look(shown + at, true);
  return value.value();
}

/// Waits for what is shown there some levels before it matters: without a hurry, as all looks go through L2.
template <class T>
__device__ void pass_gate(const T* shown, std::int64_t gate) {
  Awaited<T> value = Awaited<T>::none();
  for (value.look(shown + gate, true); !value.is_there(); value.look(shown + gate, true)) __nanosleep(100);
}

/// A lane's share of what a row waits for.
template <int flight, class T, class Offset>
struct Items {
  Offset position[flight];
  std::uint32_t codes[flight / 4];  // four in a word
  Awaited<T> value[flight];

  /// The next `left` of them, from `at` on. All are asked for at once.
  __device__ void load(const FactorItems<Offset>& items, std::int64_t at, int left) {
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      const std::int64_t k = at + (u < left ? u : 0) * 32;
      const Offset found = items.positions[k];
      codes[u / 4] = u % 4 ? codes[u / 4] | std::uint32_t{items.codes[k]} << u % 4 * 8 : items.codes[k];
      position[u] = u < left ? found : Offset{-1};
      value[u] = Awaited<T>::none();
    }
  }
  __device__ bool is_pivot(int u) const { return codes[u / 4] >> u % 4 * 8 & pivot_bit; }
  __device__ int slot(int u) const { return static_cast<int>(codes[u / 4] >> u % 4 * 8 & (pivot_bit - 1)); }
  /// Looks once at all that is still awaited; true where nothing is.
  __device__ bool look(const T* shown) {
#pragma unroll
    for (int u = 0; u < flight; ++u) value[u].look(shown + position[u], position[u] >= 0);
    bool ready = true;
#pragma unroll
    for (int u = 0; u < flight; ++u) ready &= (position[u] < 0) | value[u].is_there();  // no branch
    return ready;
  }
};

/// A row by a team: prepared at once, finished in its turn. `value` has room for its entries in shared memory.
template <int lanes, int flight, class T, class Offset>
class TeamRow {
 public:
  __device__ TeamRow(const FactorTask<T, Offset>& f, const FactorRow<Offset>& row, std::int64_t at, T* shown, T* value)
      : f_(f), row_(row), at_(at), left_((row.items + lanes - 1 - team_.lane) / lanes), shown_(shown), value_(value) {
    if (row.is_long) return;
    if (left_ > 0) items_.load(f.items, at, left_);
    for (int first = team_.lane; first < row.entries; first += flight * lanes) {
      T mine[flight];
#pragma unroll
      for (int u = 0; u < flight; ++u) {
        const int slot = first + u * lanes;
        mine[u] = f.values[row.begin + (slot < row.entries ? slot : 0)];
      }
#pragma unroll
      for (int u = 0; u < flight; ++u)
        if (const int slot = first + u * lanes; slot < row.entries)
          value[slot] = row.has_diagonal && slot == row.lower ? f.shifted(mine[u]) : mine[u];
    }
    if constexpr (lanes == 1) {
      if (row.items <= flight) prepare_alone();
    }
  }

  /// Lanes of the `turn`, which are in it together, wait together: alone, each would go through the rest by itself.
  __device__ void finish(unsigned turn) {
    __syncwarp(turn);
    if (lanes == 1 && __all_sync(turn, is_simple_)) return finish_simple(turn);
    const auto most = static_cast<int>(__reduce_max_sync(turn, static_cast<unsigned>(row_.items)));
    for (int rounds = (most + lanes - 1) / lanes; rounds > 0; rounds -= flight) {
      while (!__all_sync(turn, left_ <= 0 || items_.look(shown_))) {
      }
#pragma unroll
      for (int u = 0; u < flight; ++u)
        if (u < rounds) take_up(turn, u);
      left_ -= flight, at_ += 32 * flight;
      if (left_ > 0) items_.load(f_.items, at_, left_);
    }
    __syncwarp(turn);
    store_factor();
    __syncwarp(turn);
    if (row_.has_diagonal && team_.lane == row_.lower % lanes) {
      T pivot = value_[row_.lower];
      if (f_.p.cholesky) pivot -= squares_;
      show_pivot(pivot);
    }
    show_others();
  }

 private:
  /// Of one lane: which slots change (the others are shown at once), and whether the diagonal is all that does but for
  /// the factors: then the row needs no memory while it is finished.
  __device__ void prepare_alone() {
    touched_ = row_.has_diagonal ? 1u << row_.lower : 0;
    is_simple_ = row_.has_diagonal;
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      if (u >= left_) continue;
      const int slot = items_.slot(u);
      touched_ |= 1u << slot;
      is_simple_ &= items_.is_pivot(u) || slot == row_.lower;
      mine_[u] = value_[slot];
    }
    for (int slot = 0; slot < row_.entries; ++slot)
      if (!(touched_ >> slot & 1)) show(slot, value_[slot]);
  }
  __device__ void finish_simple(unsigned turn) {
    T pivot = value_[row_.lower];
    while (!__all_sync(turn, left_ <= 0 || items_.look(shown_))) {
    }
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      if (u >= left_) continue;
      const T theirs = brought(u);
      if (items_.is_pivot(u))
        mine_[u] = set_factor(mine_[u] * theirs);
      else
        pivot -= factor_ * theirs;
    }
    if (f_.p.cholesky) pivot -= squares_;
    show_pivot(pivot);
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (u < left_ && items_.is_pivot(u)) value_[items_.slot(u)] = mine_[u];
    show_others();
  }

  /// A round of items, which follow each other from lane to lane; each pivot makes the factor of those after it.
  __device__ void take_up(unsigned turn, int u) {
    const bool there = u < left_, is_pivot = there && items_.is_pivot(u);
    const int slot = items_.slot(u);
    const T theirs = brought(u);
    if constexpr (lanes == 1) {
      if (!there) return;
      T mine = value_[slot];
      if (is_pivot)
        mine = set_factor(mine * theirs);
      else
        mine -= factor_ * theirs;
      value_[slot] = mine;
    } else {
      // All teams of the turn go through it together, as often as the one with the most pivots.
      unsigned pivots = team_.ballot(turn, is_pivot);
      const int most = static_cast<int>(__reduce_max_sync(turn, static_cast<unsigned>(__popc(pivots))));
      int from = 0;
      for (int step = 0;; ++step) {
        const int next = pivots ? __ffs(static_cast<int>(pivots)) - 1 : lanes;
        if (there && !is_pivot && team_.lane >= from && team_.lane < next) value_[slot] -= factor_ * theirs;
        if (step == most) return;
        __syncwarp(turn);
        store_factor();
        const int their_slot = team_.from(turn, slot, next);
        const T inverse = team_.from(turn, theirs, next);
        if (pivots) {
          set_factor(value_[their_slot] * inverse);
          factor_slot_ = their_slot;
          from = next + 1;
          pivots &= pivots - 1;
        } else {
          from = lanes;
        }
      }
    }
  }
  /// What item u brings in.
  __device__ T brought(int u) const {
    const T value = items_.position[u] < 0 ? inverse_of_none<T>() : items_.value[u].value();
    return f_.p.cholesky ? conj(value) : value;
  }
  /// The last factor takes its place, behind a barrier since all of the team have read what stood there.
  __device__ void store_factor() {
    if (lanes > 1 && team_.lane == 0 && factor_slot_ >= 0) value_[factor_slot_] = factor_;
  }
  /// Of what elimination left on the diagonal.
  __device__ void show_pivot(T left) {
    value_[row_.lower] = left = finished_pivot(f_, row_.row, left);
    show(row_.lower, T(1) / left);
  }
  __device__ void show_others() {
    for (int slot = team_.lane; slot < row_.entries; slot += lanes)
      if ((slot != row_.lower || !row_.has_diagonal) && (lanes > 1 || touched_ >> slot & 1)) show(slot, value_[slot]);
    for (int slot = team_.lane; slot < row_.entries; slot += lanes) f_.to[row_.begin + slot] = value_[slot];
  }
  /// Pivots are shown as their inverses.
  __device__ void show(int slot, T value) const {
    const int number = slot - (f_.p.cholesky ? 0 : row_.lower);
    if (number >= 0) Awaited<T>::show(shown_ + row_.shown + team_place(lanes, number), value);
  }
  __device__ T set_factor(T factor) {
    squares_ += factor * conj(factor);
    return factor_ = factor;
  }

  const FactorTask<T, Offset>& f_;
  const FactorRow<Offset>& row_;
  Team<lanes> team_;
  std::int64_t at_;
  int left_;  // items of this lane
  T *shown_, *value_;
  Items<flight, T, Offset> items_;
  T factor_{}, squares_{};
  int factor_slot_ = -1;  // where the factor goes
  // of one lane:
  T mine_[lanes == 1 ? flight : 1];  // what stands in the slot of an item
  unsigned touched_ = ~0u;
  bool is_simple_ = false;
};

/// A row of any length by a warp, in the factor's own memory.
template <class T, class Offset>
__device__ void factor_long_row(const FactorTask<T, Offset>& f, T* shown, const FactorRow<Offset>& row) {
  const auto& a = f.p.a;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset begin = row.begin, end = f.p.end(row.row), near = f.p.diagonals[row.row];
  T* const work = f.to;
  const auto entry_of = [&](std::int32_t above, Offset k) {
    return awaited(shown, shown_place(f.items.rows[f.items.places[above]], f.items.lanes, k - f.p.awaited_from(above)));
  };
  for (Offset k = begin + lane; k < end; k += 32)
    work[k] = row.has_diagonal && k == near ? f.shifted(f.values[k]) : f.values[k];
  __syncwarp();
  for (Offset e = begin; e < near; ++e) {
    const std::int32_t above = a.col_indices[e];
    const bool above_has = f.p.has_diagonal(above);
    const Offset pivot = f.p.diagonals[above];
    const T factor = work[e] * (above_has ? entry_of(above, pivot) : inverse_of_none<T>());
    __syncwarp();
    if (lane == 0) work[e] = factor;
    if (f.p.cholesky) {
      for (Offset t = e + 1 + lane; t < near; t += 32) {
        const std::int32_t other = a.col_indices[t];
        const Offset past = f.p.diagonals[other], k = lower_entry(a.col_indices, a.row_offsets[other], past, above);
        if (k < past && a.col_indices[k] == above) work[t] -= factor * conj(entry_of(other, k));
      }
      if (lane == 0 && row.has_diagonal) work[near] -= factor * conj(factor);
    } else {
      for (Offset k = pivot + (above_has ? 1 : 0) + lane; k < a.row_offsets[above + 1]; k += 32) {
        const Offset mine = lower_entry(a.col_indices, e + 1, end, a.col_indices[k]);
        if (mine < end && a.col_indices[mine] == a.col_indices[k]) work[mine] -= factor * entry_of(above, k);
      }
    }
    __syncwarp();
  }
  if (lane == 0 && row.has_diagonal) work[near] = finished_pivot(f, row.row, work[near]);
  __syncwarp();
  const Offset awaited_from = f.p.awaited_from(row.row);
  for (Offset k = awaited_from + lane; k < end; k += 32)
    Awaited<T>::show(shown + row.shown + (k - awaited_from), row.has_diagonal && k == near ? T(1) / work[k] : work[k]);
}

// Threads: a warp takes the next slice of 32 / lanes rows in the order of levels, a team of lanes each; a long row by
//   itself. All that a row waits for is asked for at once. Bytes: entries of A and of the factor, positions and codes
//   of items once, and of the rows above what L2 has not.
// Deadlock: none. Warps take slices in turn as they run, and a row waits for earlier ones alone; rows of one slice that
//   are of different levels come one level after the other. A gate is of a level before the slice's.
// Races: an entry is written by one lane, and its words say whether they are there. Slots of a row belong to its team,
//   and those of one pivot's items differ. Pivot events are least rows and a count: the order of atomics does not
//   matter.
template <int lanes, int flight, class T, class Offset>
__global__ void __launch_bounds__(factor_threads, sizeof(T) > 8 || (lanes == 1 && flight > 4) ? 2 : 3)
    factor_kernel(FactorTask<T, Offset> f, T* shown, Skip skip, Turns turns) {
  extern __shared__ double shared[];
  if (skip.now()) return;
  constexpr int rows = 32 / lanes;
  const std::int64_t slice = std::int64_t{turns.next()} * (factor_threads / 32) + threadIdx.x / 32;
  if (slice * rows >= f.p.a.rows) return;
  const std::int64_t place = slice * rows + threadIdx.x % 32 / lanes;
  const bool there = place < f.p.a.rows;
  FactorRow<Offset> row = f.items.rows[there ? place : f.p.a.rows - 1];
  if (!there) row.turn = 0, row.is_long = true;
  const std::int64_t at = f.items.slices[slice] + threadIdx.x % 32;
  const Offset gate = f.items.gates[slice];
  T* value = reinterpret_cast<T*>(shared) + static_cast<int>(threadIdx.x / lanes) * f.items.room;
  TeamRow<lanes, flight, T, Offset> team_row(f, row, at, shown, value);
  if (gate >= 0) pass_gate(shown, gate);
  const unsigned last = __reduce_max_sync(~0u, row.turn);
  for (unsigned turn = 0; turn <= last; ++turn) {
    const bool mine = row.turn == turn && !row.is_long;
    const unsigned together = __ballot_sync(~0u, mine);
    if (mine) team_row.finish(together);
    __syncwarp();
    if (f.items.has_long_rows)
      for (int r = 0; r < rows; ++r)
        if (__shfl_sync(~0u, there && row.is_long && row.turn == turn, r * lanes))
          factor_long_row(f, shown, f.items.rows[slice * rows + r]);
  }
}

template <int lanes, int flight, class T, class Offset>
void launch_factor(const Cuda& cuda, const FactorTask<T, Offset>& f, T* shown, Turns turns) {
  constexpr int rows_a_block = factor_threads / lanes;
  const std::size_t shared = rows_a_block * static_cast<std::size_t>(f.items.room) * sizeof(T);
  const auto blocks = static_cast<unsigned>((f.p.a.rows + std::int64_t{rows_a_block} - 1) / rows_a_block);
  factor_kernel<lanes, flight><<<blocks, factor_threads, shared, cuda.stream>>>(f, shown, cuda.skip, turns);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void run_factorization(const Cuda& cuda, const FactorTask<T, Offset>& f) {
  Frame frame(cuda);
  const Turns turns = take_turns(cuda, frame);
  T* shown = frame.take<T>(static_cast<std::size_t>(f.items.shown));
  run_pass(cuda, f.items.shown, ClearShown<T>{shown});
  if (f.p.cholesky) run_pass(cuda, f.p.a.nnz, CopyValues<T>{f.values, f.to});
  if (f.items.lanes > 1)
    launch_factor<team_lanes, long_flight<T>>(cuda, f, shown, turns);
  else if (f.items.most_of_a_row <= short_flight)
    launch_factor<1, short_flight>(cuda, f, shown, turns);
  else
    launch_factor<1, long_flight<T>>(cuda, f, shown, turns);
}

using Where = Cuda;

}  // namespace krill

#include "krill/sparse/factor/incomplete_instances.hpp"
