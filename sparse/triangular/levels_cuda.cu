#include "krill/sparse/convert/radix_sort.cuh"
#include "krill/sparse/triangular/levels_passes.hpp"
#include "krill/sparse/triangular/turns.cuh"

namespace krill {
namespace {

constexpr int depth_threads = 512;

// Threads: a row each, a block the next depth_threads rows in the order of steps. A thread goes along its row's entries
//   from the farthest on, and looks at one at a time: in shared memory at rows of the block, in L2 at others. (To look
//   at several at once is slower: what all those looks cost others in L2 is more.)
// Bytes: row offsets, and columns up to the diagonal, once; 4 a row.
// Deadlock: none. A block takes its rows when it runs, so what they wait for is with blocks that run already, or in the
//   block. Of all rows that are not done the first one waits for none; no lane waits for another inside the loop.
// Races: a depth is one word, zero until it is known.
template <class Offset>
__global__ void __launch_bounds__(depth_threads, 4)
    depth_kernel(Steps steps, const Offset* row_offsets, const std::int32_t* col_indices, std::int32_t* depths,
                 Turns turns) {
  __shared__ std::int32_t known[depth_threads];
  known[threadIdx.x] = 0;
  const std::int64_t first = std::int64_t{turns.next()} * depth_threads;  // behind a barrier
  const std::int64_t step = first + threadIdx.x;
  if (step >= steps.rows) return;
  const std::int32_t row = steps.row(step);
  const bool lower = steps.fill == Fill::lower;
  Offset left = row_offsets[row + 1] - row_offsets[row];
  const std::int32_t* next = col_indices + (lower ? row_offsets[row] : row_offsets[row + 1] - 1);
  const auto take = [&] {  // the next entry's column; the row itself where there is none
    if (left == 0) return row;
    const std::int32_t col = *next;
    lower ? ++next : --next;
    --left;
    return col;
  };
  std::int32_t depth = 1, col = take(), col_after = take();
  const auto is_last = [&] { return steps.step(col) >= step; };
  const auto finish = [&] {
    show_in_block(known + threadIdx.x, depth);
    show_word(depths + row, depth);
  };
  bool done = is_last();
  if (done) finish();
  while (!done) {
    const std::int64_t other = steps.step(col);
    std::int32_t found = 0;
    if (other >= first)
      found = look_in_block(known + (other - first));
    else
      look_at_word(found, depths + col);
    if (found) {
      depth = max(depth, found + 1);
      col = col_after;
      done = is_last();
      if (done) finish();
      col_after = take();
    }
  }
}

}  // namespace

template <class Offset>
void find_depths(const Cuda& cuda, const Steps& steps, const Offset* row_offsets, const std::int32_t* col_indices,
                 std::int32_t* depths) {
  if (steps.rows == 0) return;
  check(cudaMemsetAsync(depths, 0, sizeof(std::int32_t) * static_cast<std::size_t>(steps.rows), cuda.stream));
  Frame frame(cuda);
  const Turns turns = take_turns(cuda, frame);
  const auto blocks = static_cast<unsigned>((steps.rows + std::int64_t{depth_threads} - 1) / depth_threads);
  depth_kernel<<<blocks, depth_threads, 0, cuda.stream>>>(steps, row_offsets, col_indices, depths, turns);
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

template void find_depths(const Cuda&, const Steps&, const std::int32_t*, const std::int32_t*, std::int32_t*);
template void find_depths(const Cuda&, const Steps&, const std::int64_t*, const std::int32_t*, std::int32_t*);
template void run_pass(const Cuda&, std::int64_t, AsTheyStand);
template void run_pass(const Cuda&, std::int64_t, Deepest);
template void run_pass(const Cuda&, std::int64_t, LevelBounds);

}  // namespace krill
