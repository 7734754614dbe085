// Threads that have a system each, or an end of one.
#pragma once
#include "sparse/banded/ends.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

inline constexpr int end_threads = BandThreadTuning::threads;

/// Where systems have two ends, the first half of a block has the first ones and the second half the last ones of the
/// same systems, so that neighbors stay neighbors in memory.
struct EndOfThread {
  int lane, end;
  std::int64_t system;
  bool some;

  __device__ EndOfThread(const BandEnds& ends, std::int64_t batch) {
    const int systems = end_threads / ends.number, t = static_cast<int>(threadIdx.x);
    lane = t % systems, end = t / systems;
    system = std::int64_t{blockIdx.x} * systems + lane;
    some = system < batch;
  }
};

/// use(i, row) for i = 0 to count - 1, with rows that load(i) has brought `ahead` steps before.
template <int ahead, class Load, class Use>
__device__ void for_loaded_rows(std::int32_t count, Load&& load, Use&& use) {
  decltype(load(0)) loaded[ahead];
#pragma unroll
  for (int r = 0; r < ahead; ++r) loaded[r] = load(r);
  for (std::int32_t first = 0; first < count; first += ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      const auto row = loaded[r];
      loaded[r] = load(first + ahead + r);
      if (first + r < count) use(first + r, row);
    }
  }
}

/// Hands the unknowns in the middle to both threads of a system, each in the order of its end, and the first row
/// without pivot to that of the first end. All threads of the block.
template <BandedMethod method, class T, int half>
__device__ void join_ends(const EndOfThread& me, const BandEnds& ends, const Equation<T, 2 * half + 1> (&left)[half],
                          T (&middle)[2 * half], std::int32_t& zero_row) {
  constexpr int size = 2 * half, pairs = end_threads / 2;
  __shared__ __align__(16) unsigned char memory[sizeof(T) * half * (size + 1) * pairs];
  __shared__ std::int32_t zero_of_last[pairs];
  T* const mine = reinterpret_cast<T*>(memory) + me.lane;
  const auto word = [&](int r, int k) -> T& { return mine[(r * (size + 1) + k) * pairs]; };
  if (me.end == 1) {
#pragma unroll
    for (int r = 0; r < half; ++r) {
      for (int k = 0; k < size; ++k) word(r, k) = left[r].entry[k];
      word(r, size) = left[r].rhs;
    }
    zero_of_last[me.lane] = zero_row;
  }
  __syncthreads();
  if (me.end == 0) {
    Equation<T, size + 1> last[half];
#pragma unroll
    for (int r = 0; r < half; ++r) {
      for (int k = 0; k < size; ++k) last[r].entry[k] = word(r, k);
      last[r].rhs = word(r, size);
    }
    zero_row = zero_row_of_ends(ends, zero_row, solve_middle<method>(left, last, middle), zero_of_last[me.lane]);
#pragma unroll
    for (int k = 0; k < size; ++k) mine[k * pairs] = middle[size - 1 - k];
  }
  __syncthreads();
  if (me.end == 1) {
#pragma unroll
    for (int k = 0; k < size; ++k) middle[k] = mine[k * pairs];
  }
}

/// Row i of a triangle: what is right of its diagonal, and its right-hand side.
template <class T, int above>
struct UpperRow {
  T entries[above] = {};
  T rhs{};
};

/// Down to up: where systems have two ends, the unknowns in the middle from the equations `left` that each leaves, then
/// those of its own end, from the last of `count` rows, which load(row, i) brings, to the first. x and x_step are those
/// of the end. All threads of the block.
template <BandedMethod method, int ahead, class T, int half, class Load>
__device__ void substitute_end(const EndOfThread& me, const BandEnds& ends,
                               const Equation<T, 2 * half + 1> (&left)[half], std::int32_t count, T* x,
                               std::int64_t x_step, std::int32_t& zero_row, Load&& load) {
  constexpr int above = entries_above(2 * half + 1, method);
  BackSteps<T, above> back;
  if (ends.number == 2) {
    T middle[2 * half];
    join_ends<method>(me, ends, left, middle, zero_row);
    if (!me.some) return;
#pragma unroll
    for (int k = 0; k < above; ++k) back.known[k] = middle[k];
    if (me.end == 0) {
#pragma unroll
      for (int k = 0; k < 2 * half; ++k) x[(count + k) * x_step] = middle[k];
    }
  }
  for_loaded_rows<ahead>(
      count,
      [&](std::int32_t from_last) {
        UpperRow<T, above> row;
        if (const std::int32_t i = count - 1 - from_last; i >= 0) load(row, i);
        return row;
      },
      [&](std::int32_t from_last, const UpperRow<T, above>& row) {
        x[(count - 1 - from_last) * x_step] = back.step(row.entries, row.rhs);
      });
}

/// Blocks for so many systems.
inline unsigned blocks_of_ends(const BandEnds& ends, std::int64_t batch) {
  return static_cast<unsigned>(ceil_div(batch, std::int64_t{end_threads / ends.number}));
}

}  // namespace krill::detail
