// Products whose rows of A are short: a thread has a row of C, and merges the rows of B that its row of A names.
#pragma once
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/rows_of_b.cuh"

namespace krill::detail {

inline constexpr int merge_threads = 128;
inline constexpr int merge_chunk = 8;  ///< entries of a row that a thread finds before they are written. Not varied.

/// Where a thread is in a row of B: the column that comes next, with what is taken of its entry and of A's.
template <class Offset, class Use>
struct MergeCursor {
  std::int32_t col = no_column;
  Offset next = 0, end = 0;
  typename Use::OfA of_a{};
  typename Use::OfB of_b{};

  template <class V>
  __device__ void advance(const CsrView<V, Offset>& b, const Use& use) {
    col = no_column;
    if (next < end) col = b.col_indices[next], of_b = use.of_b(next), ++next;
  }
};

// What becomes of the entries of C: a row's are counted from begin(row) on; start(col), then add() for each product in
// the order of A's row, then finish() by any thread of the warp. end(row, after the last).
template <class Sink>
struct MergedColumns {
  using Slot = std::int32_t;
  using OfA = NoValue;
  using OfB = NoValue;
  static constexpr bool writes = !std::is_same_v<Sink, CountUnion>;
  Sink sink;

  __device__ std::int64_t begin(std::int64_t row) const { return sink.begin(row); }
  __device__ NoValue of_a(std::int64_t) const { return {}; }
  __device__ NoValue of_b(std::int64_t) const { return {}; }
  __device__ std::int32_t start(std::int32_t col) const { return col; }
  __device__ void add(std::int32_t&, NoValue, NoValue) const {}
  __device__ void finish(std::int64_t at, std::int32_t col) const { sink.entry(at, col, absent, absent); }
  __device__ void end(std::int64_t row, std::int64_t after) const { sink.finish(row, after); }
};

// Threads: one a row of C, whose row of A has at most `heads` entries. Entries are gathered in shared memory and
//   written by a warp for its 32 rows together, merge_chunk of a row side by side.
// Bytes: A and C once, rows of B as often as the caches miss. Races: barriers of the warp around what is gathered.
template <int heads, class V, class Offset, class Use>
__global__ void __launch_bounds__(merge_threads)
    merge_rows_kernel(CsrView<V, Offset> a, CsrView<V, Offset> b, Use use, Skip skip) {
  using Slot = typename Use::Slot;
  constexpr int pitch = merge_chunk + 1;  // lanes write banks of their own
  __shared__ alignas(16) unsigned char memory[Use::writes ? merge_threads * pitch * sizeof(Slot) : 16];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Slot* const gathered = reinterpret_cast<Slot*>(memory) + (static_cast<int>(threadIdx.x) - lane) * pitch;
  const std::int64_t row = std::int64_t{blockIdx.x} * merge_threads + threadIdx.x;
  const bool mine = row < a.rows;
  const Offset first = mine ? a.row_offsets[row] : 0, last = mine ? a.row_offsets[row + 1] : 0;
  MergeCursor<Offset, Use> cursors[heads];
#pragma unroll
  for (int j = 0; j < heads; ++j)
    if (first + j < last) {
      const std::int32_t named = a.col_indices[first + j];
      cursors[j].next = b.row_offsets[named], cursors[j].end = b.row_offsets[named + 1];
      cursors[j].of_a = use.of_a(first + j);
      cursors[j].advance(b, use);
    }
  const auto next_column = [&] {
    std::int32_t col = cursors[0].col;
#pragma unroll
    for (int j = 1; j < heads; ++j) col = min(col, cursors[j].col);
    return col;
  };
  std::int64_t at = mine ? use.begin(row) : 0;
  std::int32_t col = next_column();
  while (__any_sync(~0u, col != no_column)) {
    int found = 0;
    for (; found < merge_chunk && col != no_column; ++found) {
      Slot slot = use.start(col);
#pragma unroll
      for (int j = 0; j < heads; ++j)
        if (cursors[j].col == col) {
          use.add(slot, cursors[j].of_a, cursors[j].of_b);
          cursors[j].advance(b, use);
        }
      if constexpr (Use::writes) gathered[lane * pitch + found] = slot;
      col = next_column();
    }
    if constexpr (Use::writes) {
      __syncwarp();
      for (int other = lane / merge_chunk; other < 32; other += 32 / merge_chunk) {
        const std::int64_t to = __shfl_sync(~0u, at, other);
        const int count = __shfl_sync(~0u, found, other), e = lane % merge_chunk;
        if (e < count) use.finish(to + e, gathered[other * pitch + e]);
      }
      __syncwarp();
    }
    at += found;
  }
  if (mine) use.end(row, at);
}

/// For rows of A of at most ProductTuning::max_merged entries: max_terms is the most that one has.
template <class V, class Offset, class Use>
void merge_rows(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, std::int64_t max_terms,
                const Use& use) {
  static_assert(ProductTuning::max_merged == 8);
  const auto kernel = max_terms <= 5 ? merge_rows_kernel<5, V, Offset, Use> : merge_rows_kernel<8, V, Offset, Use>;
  kernel<<<static_cast<unsigned>(ceil_div(std::int64_t{a.rows}, std::int64_t{merge_threads})), merge_threads, 0,
           cuda.stream>>>(a, b, use, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace krill::detail
