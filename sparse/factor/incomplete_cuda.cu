#include "krill/sparse/factor/pivot.hpp"
#include "krill/sparse/triangular/turns.cuh"

namespace krill {
namespace {

constexpr int factor_threads = 256;

/// The lanes of a warp that share a row.
template <int lanes>
struct Team {
  int lane;
  unsigned mask;

  __device__ Team() : lane(static_cast<int>(threadIdx.x) % lanes) {
    const unsigned first = threadIdx.x % 32 / lanes * lanes;
    mask = lanes == 32 ? ~0u : ((1u << (lanes % 32)) - 1) << first;
  }
  /// The value of a lane of the team.
  template <class V>
  __device__ V from(V value, int source) const {
    return on_words(value, [&](unsigned word) { return __shfl_sync(mask, word, source, lanes); });
  }
};

/// The factor's entries are absent until they are known; what Cholesky leaves alone is copied. Over the rows.
template <class T, class Offset>
struct ClearFactor {
  using Sum = NoSum;
  FactorTask<T, Offset> f;
  T* inverses;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t i) const {
    Awaited<T>::clear(inverses + i);
    const Offset past = factored_end(f, static_cast<std::int32_t>(i));
    for (Offset k = f.a.row_offsets[i]; k < past; ++k) Awaited<T>::clear(f.to + k);
    for (Offset k = past; k < f.a.row_offsets[i + 1]; ++k) f.to[k] = f.a.values[k];
    return {};
  }
};

template <class T>
__device__ T awaited(const T* at) {
  Awaited<T> value = Awaited<T>::none();
  while (!value.is_there()) value.look(at, true);
  return value.value();
}

/// A row by a team, an entry a lane.
template <int lanes, class T, class Offset>
__device__ void factor_row(const FactorTask<T, Offset>& f, T* inverses, const Team<lanes>& team, std::int32_t i) {
  constexpr int together = lanes == 8 ? 4 : 8;  // rows above that the row is reduced by at a time
  const Offset begin = f.a.row_offsets[i], end = factored_end(f, i), near = f.diagonals[i];
  const int lower = static_cast<int>(near - begin);
  const bool there = begin + team.lane < end, is_lower = team.lane < lower;
  const Offset mine = there ? begin + team.lane : begin;
  const std::int32_t col = there ? f.a.col_indices[mine] : -1;
  T value = there ? f.entry(i, mine) : T{};
  // Of the row above that a lane's entry stands for: all its entries for Cholesky, else those right of its diagonal.
  Offset from = 0, past = 0;
  if (is_lower) {
    from = f.cholesky ? f.a.row_offsets[col] : f.diagonals[col];
    past = f.cholesky ? f.diagonals[col] : f.a.row_offsets[col + 1];
  }
  for (int first = 0; first < lower; first += together) {
    Offset place[together];
    std::int32_t above[together];
#pragma unroll
    for (int u = 0; u < together; ++u) {
      place[u] = -1, above[u] = -1;
      if (first + u >= lower) continue;
      above[u] = team.from(col, first + u);
      if (f.cholesky) {
        // the entry of the lane's row above in the column of the other row above
        if (is_lower && team.lane > first + u) {
          from = next_entry(f.a.col_indices, from, past, above[u]);
          if (from < past && f.a.col_indices[from] == above[u]) place[u] = from;
        }
      } else {
        // the entry of the other row above in the lane's column
        const Offset low = team.from(from, first + u), high = team.from(past, first + u);
        for (Offset k = low; k < high; k += lanes) {
          const std::int32_t theirs = k + team.lane < high ? f.a.col_indices[k + team.lane] : -2;
          const int entries = static_cast<int>(min(high - k, Offset{lanes}));
#pragma unroll 4
          for (int lane = 0; lane < entries; ++lane)
            if (team.from(theirs, lane) == col && col > above[u]) place[u] = k + lane;
        }
      }
    }
    Awaited<T> inverse[together], entry[together];
#pragma unroll
    for (int u = 0; u < together; ++u) inverse[u] = entry[u] = Awaited<T>::none();
    // The inverse of a pivot is shown last of its row: entries are hardly ever looked at in vain.
    for (bool ready = false; !ready;) {
      ready = true;
#pragma unroll
      for (int u = 0; u < together; ++u) inverse[u].look(inverses + above[u], above[u] >= 0);
#pragma unroll
      for (int u = 0; u < together; ++u) ready = ready && (above[u] < 0 || inverse[u].is_there());
    }
    for (bool ready = false; !ready;) {
      ready = true;
#pragma unroll
      for (int u = 0; u < together; ++u) entry[u].look(f.to + place[u], place[u] >= 0);
#pragma unroll
      for (int u = 0; u < together; ++u) ready = ready && (place[u] < 0 || entry[u].is_there());
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
      if (first + u >= lower) continue;
      const T factor = team.from(value, first + u) * inverse[u].value();
      if (team.lane == first + u) value = factor;
      if (place[u] >= 0) value -= factor * (f.cholesky ? conj(entry[u].value()) : entry[u].value());
      if (f.cholesky && team.lane == lower) value -= factor * conj(factor);
    }
  }
  const bool is_pivot = there && col == i;
  if (is_pivot) value = finished_pivot(f, i, value);
  if (there) Awaited<T>::show(f.to + mine, value);
  if (is_pivot) Awaited<T>::show(inverses + i, T(1) / value);
  if (team.lane == 0 && (near >= end || f.a.col_indices[near] != i))
    Awaited<T>::show(inverses + i, T(1) / T{});  // no pivot: whoever asks must not wait for ever
}

/// A row of any length by a warp; `work` has room for it.
template <class T, class Offset>
__device__ void factor_long_row(const FactorTask<T, Offset>& f, T* inverses, T* work, std::int32_t i) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset begin = f.a.row_offsets[i], end = factored_end(f, i), near = f.diagonals[i];
  const bool has = near < end && f.a.col_indices[near] == i;
  for (Offset k = begin + lane; k < end; k += 32) work[k] = f.entry(i, k);
  __syncwarp();
  for (Offset e = begin; e < near; ++e) {
    const std::int32_t above = f.a.col_indices[e];
    const T factor = work[e] * awaited(inverses + above);
    __syncwarp();
    if (lane == 0) work[e] = factor;
    if (f.cholesky) {
      for (Offset t = e + 1 + lane; t < near; t += 32) {
        const std::int32_t row = f.a.col_indices[t];
        const Offset past = f.diagonals[row], k = lower_entry(f.a.col_indices, f.a.row_offsets[row], past, above);
        if (k < past && f.a.col_indices[k] == above) work[t] -= factor * conj(awaited(f.to + k));
      }
      if (lane == 0 && has) work[near] -= factor * conj(factor);
    } else {
      for (Offset k = f.diagonals[above] + lane; k < f.a.row_offsets[above + 1]; k += 32) {
        const std::int32_t col = f.a.col_indices[k];
        if (col <= above) continue;
        const Offset mine = lower_entry(f.a.col_indices, e + 1, end, col);
        if (mine < end && f.a.col_indices[mine] == col) work[mine] -= factor * awaited(f.to + k);
      }
    }
    __syncwarp();
  }
  if (lane == 0 && has) work[near] = finished_pivot(f, i, work[near]);
  __syncwarp();
  for (Offset k = begin + lane; k < end; k += 32) Awaited<T>::show(f.to + k, work[k]);
  if (lane == 0) Awaited<T>::show(inverses + i, T(1) / (has ? work[near] : T{}));
}

// Threads: a warp takes the next 32 / lanes rows in the order of levels, a team of lanes each; a row of more than 32
//   entries by itself. Bytes: entries of A and of the factor once, and of the rows above what L2 has not.
// Deadlock: none. Warps take rows in turn as they run, and a row waits for earlier ones alone; where rows of one warp
//   wait for each other, it takes them one after the other.
// Races: an entry is written by one lane, and its words say whether they are there. Pivot events are least rows and a
//   count: the order of atomics does not matter.
template <int lanes, class T, class Offset>
__global__ void __launch_bounds__(factor_threads)
    factor_kernel(FactorTask<T, Offset> f, T* inverses, T* work, Skip skip, Turns turns) {
  if (skip.now()) return;
  constexpr int rows = 32 / lanes;
  const std::int64_t number = std::int64_t{turns.next()} * (factor_threads / 32) + threadIdx.x / 32;
  const int mine = static_cast<int>(threadIdx.x) % 32 / lanes;
  const std::int64_t place = number * rows + mine;
  if (number * rows >= f.a.rows) return;
  const bool there = place<f.a.rows, mixed = rows> 1 && f.mixed[number];
  const std::int32_t i = there ? f.order[place] : 0;
  const Team<lanes> team;
  if (lanes == 32 && f.has_long_rows && factored_end(f, i) - f.a.row_offsets[i] > 32)
    return factor_long_row(f, inverses, work, i);
  if (!mixed) {
    if (there) factor_row<lanes>(f, inverses, team, i);
  } else if constexpr (rows > 1) {
    for (int turn = 0; turn < rows; ++turn) {
      if (turn == mine && there) factor_row<lanes>(f, inverses, team, i);
      __syncwarp();
    }
  }
}

template <int lanes, class T, class Offset>
void launch_factor(const Cuda& cuda, const FactorTask<T, Offset>& f, T* inverses, T* work) {
  Frame frame(cuda);
  const Turns turns = take_turns(cuda, frame);
  constexpr int rows_a_block = factor_threads / lanes;
  const auto blocks = static_cast<unsigned>((f.a.rows + std::int64_t{rows_a_block} - 1) / rows_a_block);
  factor_kernel<lanes><<<blocks, factor_threads, 0, cuda.stream>>>(f, inverses, work, cuda.skip, turns);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void run_factorization(const Cuda& cuda, const FactorTask<T, Offset>& f) {
  Frame frame(cuda);
  T* inverses = frame.take<T>(static_cast<std::size_t>(f.a.rows));
  T* work = f.has_long_rows ? frame.take<T>(static_cast<std::size_t>(f.a.nnz)) : nullptr;
  run_pass(cuda, f.a.rows, ClearFactor<T, Offset>{f, inverses});
  if (f.rows_together == 4)
    launch_factor<8>(cuda, f, inverses, work);
  else if (f.rows_together == 2)
    launch_factor<16>(cuda, f, inverses, work);
  else
    launch_factor<32>(cuda, f, inverses, work);
}

using Where = Cuda;

}  // namespace krill

#include "krill/sparse/factor/incomplete_instances.hpp"
