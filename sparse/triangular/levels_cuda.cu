#include <limits>

#include "sparse/convert/radix_sort.cuh"
#include "sparse/triangular/levels_passes.hpp"
#include "sparse/triangular/turns.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int blocks = 2;  ///< of depth_threads that a multiprocessor is to hold: all of its threads
};

/// What a lane of depth_kernel waits for: another row, the row before, which its neighbor has, or nothing more.
enum class Seeks { others, row_before, nothing };

/// depth[lane], for lanes that seek the row before, which the lane before has: the greatest of their own and one more
/// than that lane's; as a scan of the functions d -> max(depth, d + 1). Lanes that seek nothing keep theirs.
__device__ std::int32_t chained_depth(std::int32_t depth, bool chained) {
  constexpr std::int32_t never = std::numeric_limits<std::int32_t>::min() / 2;
  std::int32_t more = chained ? 1 : never;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const std::int32_t their_depth = __shfl_up_sync(~0u, depth, step), their_more = __shfl_up_sync(~0u, more, step);
    if (lane < step) continue;
    depth = max(depth, their_depth + more);
    more = max(more + their_more, never);
  }
  return depth;
}

// Threads: a block takes the next `rounds` times depth_threads rows in the order of steps, a warp 32 of them at a time,
//   a row a lane. A lane goes along its row's entries from the farthest on, and looks at one at a time: in shared
//   memory at rows of the block, in L2 at others. (To look at several at once is slower: what all those looks cost
//   others in L2 is more.) Where all that is left is the row before, which is the last that a row of a grid or a band
//   needs, the warp finishes the chain in one scan.
// Bytes: row offsets, and columns up to the diagonal, once; 4 a row. Shared: 4 a row of the block.
// Deadlock: none. A block takes its rows when it runs, so what they wait for is with blocks that run already, or in the
//   block. Warps take their rows in the order of steps, so of all rows that are not done the first one is with a warp
//   that looks, and waits for none; no lane waits for another one inside the loop but for the row before, and chains
//   below the first lane that looks are finished each time.
// Races: a depth is one word, zero until it is known.
template <class Offset>
__global__ void __launch_bounds__(depth_threads, Tuning::blocks)
    depth_kernel(Steps steps, const Offset* row_offsets, const std::int32_t* col_indices, std::int32_t* depths,
                 std::int32_t rounds, Turns turns) {
  extern __shared__ std::int32_t known[];
  for (int k = static_cast<int>(threadIdx.x); k < rounds * depth_threads; k += depth_threads) known[k] = 0;
  const std::int64_t first = std::int64_t{turns.next()} * rounds * depth_threads;  // behind a barrier
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int mine = static_cast<int>(threadIdx.x); mine < rounds * depth_threads; mine += depth_threads) {
    const std::int64_t step = first + mine;
    if (step - lane >= steps.rows) return;
    const bool there = step < steps.rows;
    const std::int32_t row = steps.row(there ? step : 0);
    const bool lower = steps.fill == Fill::lower;
    Offset left = there ? row_offsets[row + 1] - row_offsets[row] : 0;
    const std::int32_t* next = col_indices + (lower ? row_offsets[row] : row_offsets[row + 1] - 1);
    const auto take = [&] {  // the next entry's column; the row itself where there is none
      if (left == 0) return row;
      const std::int32_t col = *next;
      lower ? ++next : --next;
      --left;
      return col;
    };
    std::int32_t depth = 1, col = take(), col_after = take();
    const auto sought = [&] {
      const std::int64_t other = steps.step(col);
      return !there || other >= step         ? Seeks::nothing
             : other == step - 1 && lane > 0 ? Seeks::row_before
                                             : Seeks::others;
    };
    const auto publish = [&] {
      publish_in_block(known + mine, depth);
      publish_word(depths + row, depth);
    };
    Seeks seeks = sought();
    if (there && seeks == Seeks::nothing) publish();
    for (bool going_on = true; going_on;) {
      if (seeks == Seeks::others) {
        const std::int64_t other = steps.step(col);
        std::int32_t found = 0;
        if (other >= first)
          found = look_in_block(known + (other - first));
        else
          look_at_word(found, depths + col);
        if (found) {
          depth = max(depth, found + 1);
          col = col_after;
          col_after = take();
          seeks = sought();
          if (seeks == Seeks::nothing) publish();
        }
      }
      const unsigned looking = __ballot_sync(~0u, seeks == Seeks::others);
      const bool chained = seeks == Seeks::row_before && (looking & ((1u << lane) - 1)) == 0;
      if (__any_sync(~0u, chained)) {
        const std::int32_t whole = chained_depth(depth, seeks == Seeks::row_before);
        if (chained) depth = whole, seeks = Seeks::nothing, publish();
      }
      going_on = looking != 0;
    }
  }
}

}  // namespace

template <class Offset>
void find_depths(const Cuda& cuda, const Steps& steps, const Offset* row_offsets, const std::int32_t* col_indices,
                 std::int32_t* depths, std::int32_t rounds) {
  if (steps.rows == 0) return;
  check(cudaMemsetAsync(depths, 0, sizeof(std::int32_t) * static_cast<std::size_t>(steps.rows), cuda.stream));
  Frame frame(cuda);
  const Turns turns = take_turns(cuda, frame);
  const std::int64_t rows = std::int64_t{rounds} * depth_threads;
  const auto blocks = static_cast<unsigned>((steps.rows + rows - 1) / rows);
  const std::size_t shared = sizeof(std::int32_t) * static_cast<std::size_t>(rows);
  if (shared > 48 * 1024)  // what a kernel has without asking
    check(cudaFuncSetAttribute(depth_kernel<Offset>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  depth_kernel<<<blocks, depth_threads, shared, cuda.stream>>>(steps, row_offsets, col_indices, depths, rounds, turns);
  check(cudaGetLastError());
}

void sort_by_depth(const Cuda& cuda, const Steps& steps, std::int32_t deepest, const std::int32_t* depths,
                   std::int32_t* sorted, std::int32_t* order) {
  Frame frame(cuda);
  const auto rows = static_cast<std::size_t>(steps.rows);
  auto* keys = frame.take<std::int32_t>(rows);
  auto* payload = frame.take<std::int32_t>(rows);
  run_pass(cuda, steps.rows, DepthOfStep{steps, depths, keys, payload});
  sort_by_key(cuda, frame, steps.rows, deepest + std::int64_t{1}, keys, sorted, payload, order);
}

template class LevelPasses<Cuda>;

}  // namespace krill::detail
