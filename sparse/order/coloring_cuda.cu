#include "sparse/order/coloring_passes.hpp"
#include "sparse/triangular/turns.cuh"

namespace krill::detail {
namespace {

// Reasoned from what triangular solves showed, not varied.
struct Tuning {
  static constexpr int long_threads = 128;               ///< of a block that has a long row
  static constexpr int short_threads = 512, blocks = 3;  ///< of a block, a row each; blocks of a multiprocessor
};
constexpr int long_threads = Tuning::long_threads, short_threads = Tuning::short_threads;
constexpr int window_words = long_threads;          // a word a thread
constexpr std::int32_t window = 32 * window_words;  // colors that are looked at together, a bit each

// Threads: a block a long row, an entry a thread.
// Bytes: row offsets and columns once, 4 for each entry's color.
// Deadlock: none. A block takes its row when it runs and waits for rows that come before it in the list, which are with
//   blocks that run already; threads of a block do not wait for each other before a barrier.
// Races: a color is one word, negative until it is known.
template <class Offset>
__global__ void __launch_bounds__(long_threads)
    long_rows_kernel(Neighbors<Offset> neighbors, ColorSequence sequence, const std::int32_t* list,
                     std::int32_t* colors, Turns turns) {
  __shared__ unsigned taken[window_words];
  __shared__ std::int32_t free;
  const std::int32_t row = list[turns.next()];
  const std::int64_t step = sequence.step(row);
  for (std::int32_t first = 1;; first += window) {  // first color of the window
    taken[threadIdx.x] = 0;
    if (threadIdx.x == 0) free = first + window;
    __syncthreads();
    for (int side = 0; side < 2; ++side) {
      const Offset* offsets = neighbors.row_offsets[side];
      if (!offsets) continue;
      for (Offset k = offsets[row] + static_cast<Offset>(threadIdx.x); k < offsets[row + 1]; k += long_threads) {
        const std::int32_t col = neighbors.col_indices[side][k];
        std::int32_t color = 0;
        look_at_word(color, colors + col);
        if (color == awaited_color && sequence.step(col) < step) do
            look_at_word(color, colors + col);
          while (color == awaited_color);
        const std::int32_t bit = color - first;
        if (color > 0 && bit >= 0 && bit < window) atomicOr(taken + bit / 32, 1u << bit % 32);
      }
    }
    __syncthreads();
    if (const unsigned open = ~taken[threadIdx.x])
      atomicMin(&free, first + 32 * static_cast<std::int32_t>(threadIdx.x) + __ffs(static_cast<int>(open)) - 1);
    __syncthreads();
    if (free < first + window) break;  // the same in all threads
    __syncthreads();                   // before it is written again
  }
  if (threadIdx.x == 0) publish_word(colors + row, free);
}

/// The neighbors of a row: first those that come after it in the matrix, then those before it, which the row waits for
/// longest.
template <class Offset>
class Walk {
 public:
  /// `only_before`: leaves out those after the row.
  __device__ Walk(const Neighbors<Offset>& neighbors, std::int32_t row, bool only_before)
      : neighbors_(neighbors), row_(row), part_(only_before ? 1 : -1) {}

  /// The next neighbor; the row itself after the last one.
  __device__ std::int32_t next() {
    while (left_ == 0) {
      if (part_ == 3) return row_;
      enter(++part_);
    }
    --left_;
    return *next_++;
  }

 private:
  __device__ void enter(int part) {
    const bool transposed = part % 2 != 0;  // a choice, so that nothing is indexed: that would cost a copy a thread
    const Offset* offsets = transposed ? neighbors_.row_offsets[1] : neighbors_.row_offsets[0];
    if (!offsets) return;
    const std::int32_t* cols = (transposed ? neighbors_.col_indices[1] : neighbors_.col_indices[0]) + offsets[row_];
    const auto size = static_cast<std::int32_t>(offsets[row_ + 1] - offsets[row_]);
    std::int32_t before = 0;  // neighbors before the row
    for (std::int32_t end = size; before < end;) {
      const std::int32_t middle = (before + end) / 2;
      if (cols[middle] < row_)
        before = middle + 1;
      else
        end = middle;
    }
    if (part < 2) {
      before += before < size && cols[before] == row_;
      next_ = cols + before, left_ = size - before;
    } else {
      next_ = cols, left_ = before;
    }
  }

  const Neighbors<Offset>& neighbors_;
  std::int32_t row_;
  int part_;  // after the row in A and in its transpose, then before it
  std::int32_t left_ = 0;
  const std::int32_t* next_ = nullptr;
};

// Threads: a row each, a block the next short_threads steps. A thread looks at one neighbor at a time: in shared memory
//   at rows of the block, in L2 at others. Long rows have their colors.
// Bytes: row offsets and columns once or twice, 8 a row.
// Deadlock: none. A block takes its steps when it runs, so the rows that its rows wait for are with blocks that run
//   already, or in the block. Of all rows without a color the first one waits for none; no lane waits for another
//   inside the loop.
// Races: a color is one word, zero until it is known. A neighbor that comes later and is not long has none before this
//   row has one.
template <class Offset>
__global__ void __launch_bounds__(short_threads, Tuning::blocks)
    short_rows_kernel(Neighbors<Offset> neighbors, ColorSequence sequence, bool any_long, std::int32_t* colors,
                      Turns turns) {
  __shared__ std::int32_t known[short_threads];
  const std::int64_t first = std::int64_t{turns.next()} * short_threads, step = first + threadIdx.x;
  const std::int32_t row = step < sequence.steps() ? sequence.row(step) : -1;
  const std::int32_t given = row >= 0 ? colors[row] : 0;
  known[threadIdx.x] = given;
  __syncthreads();
  if (row < 0 || given > 0) return;
  Walk<Offset> walk(neighbors, row, sequence.chunks == 1 && !any_long);
  unsigned long long taken = 0, taken_above = 0;  // colors 1 to 64, 65 to 128
  std::int32_t col = walk.next(), col_after = walk.next();
  const auto finish = [&] {
    const std::int32_t color =
        ~taken ? __ffsll(static_cast<long long>(~taken)) : 64 + __ffsll(static_cast<long long>(~taken_above));
    publish_in_block(known + threadIdx.x, color);
    publish_word(colors + row, color);
  };
  bool done = col == row;
  if (done) finish();
  while (!done) {
    const std::int64_t other = sequence.step(col);
    std::int32_t color = 0;
    if (other >= first && other < first + short_threads)
      color = look_in_block(known + (other - first));
    else
      look_at_word(color, colors + col, other < step || any_long);
    if (color > 64 && color <= 128) taken_above |= 1ull << (color - 65);
    if (color > 0 && color <= 64) taken |= 1ull << (color - 1);
    if (color > 0 || other > step) {
      col = col_after;
      done = col == row;
      if (done) finish();
      col_after = walk.next();
    }
  }
}

}  // namespace

template <class Offset>
void greedy_colors(const Cuda& cuda, const Neighbors<Offset>& neighbors, const ColorSequence& sequence,
                   std::int32_t count, const std::int32_t* list, std::int32_t* colors) {
  if (sequence.rows == 0) return;
  Frame frame(cuda);
  if (count > 0) {
    long_rows_kernel<<<static_cast<unsigned>(count), long_threads, 0, cuda.stream>>>(neighbors, sequence, list, colors,
                                                                                     take_turns(cuda, frame));
    check(cudaGetLastError());
  }
  const auto blocks = static_cast<unsigned>((sequence.steps() + short_threads - 1) / short_threads);
  short_rows_kernel<<<blocks, short_threads, 0, cuda.stream>>>(neighbors, sequence, count > 0, colors,
                                                               take_turns(cuda, frame));
  check(cudaGetLastError());
}

template class ColoringPasses<std::int32_t, Cuda>;
template class ColoringPasses<std::int64_t, Cuda>;

}  // namespace krill::detail
