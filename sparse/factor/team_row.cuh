// A row of an incomplete factorization on CUDA: by the lanes of a warp that share it, or, where it is long, by the
// warp.
#pragma once
#include <limits>

#include "sparse/factor/incomplete_passes.hpp"
#include "sparse/factor/pivot.hpp"
#include "sparse/triangular/turns.cuh"

namespace krill::detail {

/// The lanes of a warp that share a row.
template <int lanes>
struct RowTeam {
  int lane;
  unsigned first, mask;

  __device__ RowTeam()
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

/// The inverse of a pivot that has no entry: infinity, as 1 / 0. Rows that use it must not wait for it.
template <class T>
__device__ T inverse_of_none() {
  return T(std::numeric_limits<real_t<T>>::infinity());
}

/// What is published at `at`, once it is there.
template <class T>
__device__ T awaited(const T* published, std::int64_t at) {
  Awaited<T> value = Awaited<T>::none();
  while (!value.is_there()) value.look(published + at, true);
  return value.value();
}

/// A lane's share of what a row waits for.
template <int flight, class T, class Offset>
struct Items {
  Offset position[flight];
  std::uint32_t codes[flight / 4];  // four in a word
  Awaited<T> value[flight];

  /// Loads the next items, `left` of them at most, from `at` on; all loads are under way at once.
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
  /// Looks once at every value that is still missing; true if none is left.
  __device__ bool look(const T* published) {
#pragma unroll
    for (int u = 0; u < flight; ++u) value[u].look(published + position[u], position[u] >= 0);
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
  __device__ TeamRow(const FactorTask<T, Offset>& f, const FactorRow<Offset>& row, std::int64_t at, T* published,
                     T* value)
      : f_(f),
        row_(row),
        at_(at),
        left_((row.items + lanes - 1 - team_.lane) / lanes),
        published_(published),
        value_(value) {
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
      while (!__all_sync(turn, left_ <= 0 || items_.look(published_))) {
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
      publish_pivot(pivot);
    }
    publish_others();
  }

 private:
  /// For rows of one lane: finds which slots elimination changes and publishes the others at once. A row is simple if
  /// only its factors and its diagonal change: it is then finished in registers.
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
      if (!(touched_ >> slot & 1)) publish(slot, value_[slot]);
  }
  __device__ void finish_simple(unsigned turn) {
    T pivot = value_[row_.lower];
    while (!__all_sync(turn, left_ <= 0 || items_.look(published_))) {
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
    publish_pivot(pivot);
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (u < left_ && items_.is_pivot(u)) value_[items_.slot(u)] = mine_[u];
    publish_others();
  }

  /// Uses item u of each lane, in the order of lanes. A pivot yields the factor for the items after it.
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
  /// The value of item u; conjugated for Cholesky.
  __device__ T brought(int u) const {
    const T value = items_.position[u] < 0 ? inverse_of_none<T>() : items_.value[u].value();
    return f_.p.cholesky ? conj(value) : value;
  }
  /// Stores the last factor; a barrier has come since the team read that slot.
  __device__ void store_factor() {
    if (lanes > 1 && team_.lane == 0 && factor_slot_ >= 0) value_[factor_slot_] = factor_;
  }
  /// Makes the pivot of what elimination left on the diagonal, stores it and publishes its inverse.
  __device__ void publish_pivot(T left) {
    value_[row_.lower] = left = finished_pivot(f_, row_.row, left);
    publish(row_.lower, T(1) / left);
  }
  __device__ void publish_others() {
    for (int slot = team_.lane; slot < row_.entries; slot += lanes)
      if ((slot != row_.lower || !row_.has_diagonal) && (lanes > 1 || touched_ >> slot & 1))
        publish(slot, value_[slot]);
    for (int slot = team_.lane; slot < row_.entries; slot += lanes) f_.to[row_.begin + slot] = value_[slot];
  }
  /// Pivots are published as their inverses.
  __device__ void publish(int slot, T value) const {
    const int number = slot - (f_.p.cholesky ? 0 : row_.lower);
    if (number >= 0) Awaited<T>::publish(published_ + row_.published + team_place(lanes, number), value);
  }
  __device__ T set_factor(T factor) {
    squares_ += factor * conj(factor);
    return factor_ = factor;
  }

  const FactorTask<T, Offset>& f_;
  const FactorRow<Offset>& row_;
  RowTeam<lanes> team_;
  std::int64_t at_;
  int left_;  // items of this lane
  T *published_, *value_;
  Items<flight, T, Offset> items_;
  T factor_{}, squares_{};
  int factor_slot_ = -1;  // the slot of factor_; -1: there is none yet
  // of one lane:
  T mine_[lanes == 1 ? flight : 1];  // what stands in the slot of an item
  unsigned touched_ = ~0u;
  bool is_simple_ = false;
};

/// A row of any length by a warp, in the factor's own memory.
template <class T, class Offset>
__device__ void factor_long_row(const FactorTask<T, Offset>& f, T* published, const FactorRow<Offset>& row) {
  const auto& a = f.p.a;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset begin = row.begin, end = f.p.end(row.row), near = f.p.diagonals[row.row];
  T* const work = f.to;
  const auto entry_of = [&](std::int32_t above, Offset k) {
    return awaited(published, published_position(f.items.rows[f.items.inverse[above]], f.items.lanes,
                                                 k - f.p.awaited_from(above)));
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
        const Offset other_end = f.p.diagonals[other],
                     k = lower_entry(a.col_indices, a.row_offsets[other], other_end, above);
        if (k < other_end && a.col_indices[k] == above) work[t] -= factor * conj(entry_of(other, k));
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
    Awaited<T>::publish(published + row.published + (k - awaited_from),
                        row.has_diagonal && k == near ? T(1) / work[k] : work[k]);
}

}  // namespace krill::detail
