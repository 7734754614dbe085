// CSR with short rows: copies in the background bring the entries of a tile into shared memory, a thread adds up a row.
#pragma once
#include "sparse/core/bulk_copy.cuh"
#include "sparse/spmv/csr_tile.cuh"

namespace krill::detail {

struct StagedTuning {
  static constexpr int rows = 256;  ///< threads that add up, and rows whose offsets are staged. Not varied.
  static constexpr int stages = 2;  ///< tiles in shared memory: one that is read, one that comes. Not varied.
  template <class T>
  static constexpr int flight = sizeof(T) > 8 ? 4 : 8;  ///< products that a thread has in flight. Not varied.
  /// The same where rows have no more in the mean: less is asked for in vain. Larger values would spill registers.
  template <class T>
  static constexpr int few = sizeof(T) > 4 ? flight<T> : flight<T> / 2;
  template <class T>
  static constexpr int blocks = sizeof(T) > 8 ? 2 : 4;  ///< that a multiprocessor is to hold. Not varied.
};

inline constexpr int staged_rows = StagedTuning::rows, stages = StagedTuning::stages;
inline constexpr int staged_threads = staged_rows + 32;  ///< one warp more starts the copies
inline constexpr int copy_alignment = 4;                 ///< entries: 16 bytes of their columns

/// The shared memory of a block: for each stage a tile's values, columns and row offsets.
template <class T, class Offset>
struct StagedMemory {
  T* values;
  std::int32_t* columns;
  Offset* offsets;
  int entries;

  static constexpr int offsets_a_stage = staged_rows + 2 * copy_alignment;
  static constexpr int entries_a_stage(const CsrTiling& tiling) {
    return (tiling.capacity() + 2 * copy_alignment) / copy_alignment * copy_alignment;
  }
  static constexpr std::size_t bytes(const CsrTiling& tiling) {
    return stages * (entries_a_stage(tiling) * (sizeof(T) + sizeof(std::int32_t)) + offsets_a_stage * sizeof(Offset));
  }
  __device__ StagedMemory(unsigned char* memory, const CsrTiling& tiling) : entries(entries_a_stage(tiling)) {
    values = reinterpret_cast<T*>(memory);
    offsets = reinterpret_cast<Offset*>(values + stages * entries);
    columns = reinterpret_cast<std::int32_t*>(offsets + stages * offsets_a_stage);
  }
};

/// How many of `count` items a copy brings: whole 16 bytes, and none beyond the `left` ones that the array still has.
template <class V>
__device__ int copied_items(int count, std::int64_t left) {
  constexpr int step = sizeof(V) < 16 ? 16 / sizeof(V) : 1;
  const int rounded = (count + step - 1) / step * step;
  return rounded <= left ? rounded : count / step * step;
}

/// Fills a stage; one thread. What the copies must not bring at the end of the arrays it brings itself.
template <class T, class Offset>
__device__ void fill_stage(const CsrView<const T, Offset>& a, const TileBounds<Offset>& tile,
                           const StagedMemory<T, Offset>& m, int stage, std::uint64_t& full) {
  const Offset from = tile.begin / copy_alignment * copy_alignment;
  const std::int32_t row = tile.first_row / copy_alignment * copy_alignment;
  const int entries = static_cast<int>(tile.end - from);
  const int offsets = min(tile.end_row - tile.first_row, staged_rows) + 1 + (tile.first_row - row);
  const int values_copied = copied_items<T>(entries, a.nnz - from);
  const int columns_copied = copied_items<std::int32_t>(entries, a.nnz - from);
  const int offsets_copied = copied_items<Offset>(offsets, a.rows + std::int64_t{1} - row);
  T* values = m.values + stage * m.entries;
  std::int32_t* columns = m.columns + stage * m.entries;
  Offset* to_offsets = m.offsets + stage * m.offsets_a_stage;
  for (int i = values_copied; i < entries; ++i) values[i] = a.values[from + i];
  for (int i = columns_copied; i < entries; ++i) columns[i] = a.col_indices[from + i];
  for (int i = offsets_copied; i < offsets; ++i) to_offsets[i] = a.row_offsets[row + i];
  const std::uint32_t value_bytes = values_copied * sizeof(T), column_bytes = columns_copied * sizeof(std::int32_t),
                      offset_bytes = offsets_copied * sizeof(Offset);
  expect_bytes(full, value_bytes + column_bytes + offset_bytes);
  if (offset_bytes) copy_async(to_offsets, a.row_offsets + row, offset_bytes, full);
  if (value_bytes) copy_async(values, a.values + from, value_bytes, full);
  if (column_bytes) copy_async(columns, a.col_indices + from, column_bytes, full);
}

/// The sum of entries from .. to of a stage, a thread on its own with `flight` products in flight.
template <int flight, class T>
__device__ T sum_alone(const T* values, const std::int32_t* columns, std::int32_t base, const T* x, int from, int to) {
  T sum{};
#pragma unroll 1
  for (int k = from; k < to; k += flight) {
    T read[flight];
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (k + u < to) read[u] = x[columns[k + u] - base];
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (k + u < to) sum += values[k + u] * read[u];
  }
  return sum;
}

/// Multiplies the entries from .. to of a stage in their order, in place; all threads that add up.
template <class T>
__device__ void multiply_in_place(T* values, const std::int32_t* columns, std::int32_t base, const T* x, int from,
                                  int to) {
  constexpr int flight = StagedTuning::flight<T>;
#pragma unroll 1
  for (int k = from + static_cast<int>(threadIdx.x); k < to; k += staged_rows * flight) {
    T read[flight];
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (k + staged_rows * u < to) read[u] = x[columns[k + staged_rows * u] - base];
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (k + staged_rows * u < to) values[k + staged_rows * u] = values[k + staged_rows * u] * read[u];
  }
}

/// The sum of this lane's products from .. to: a short row's by the lane, a long one's by the warp. The whole warp.
template <class T>
__device__ T sum_products(const T* products, int from, int to) {
  const bool is_long = to - from > even_row;
  T sum{};
  if (!is_long)
#pragma unroll 1
    for (int k = from; k < to; ++k) sum += products[k];
  return sum + sum_long_segments<T>(is_long, from, to - from, [products](int k) { return products[k]; });
}

/// A lane's part of a long row: its entries and their sum. The row begins in tile `first`.
template <class T>
struct RowPart {
  std::int32_t row, first;
  unsigned entries;
  T sum;
};

/// Leaves the parts of long rows in tile t that lanes say they have. The whole warp.
template <class T, class Offset>
__device__ void book_parts(const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles, std::int32_t t,
                           bool has_part, const RowPart<T>& part) {
  for (unsigned waiting = __ballot_sync(~0u, has_part); waiting; waiting &= waiting - 1) {
    const int owner = __ffs(static_cast<int>(waiting)) - 1, lane = static_cast<int>(threadIdx.x % 32);
    const std::int32_t row = __shfl_sync(~0u, part.row, owner), first = __shfl_sync(~0u, part.first, owner);
    const auto base = static_cast<Offset>(p.a.base);
    const LongRow<T> parts(tiles, first, p.a.row_offsets[row] - base, p.a.row_offsets[row + 1] - base);
    bool is_last = false;
    if (lane == owner) {
      *parts.part(t) = part.sum;
      is_last = parts.arrive(part.entries);
    }
    if (!__any_sync(~0u, is_last)) continue;
    const T total = lanes_sum(parts.share(0, lane, 32), 32);
    if (lane == 0) p.put(row, total);
  }
}

/// A barrier of the threads that add up.
__device__ inline void meet_readers() { asm volatile("bar.sync 1, %0;" ::"n"(staged_rows) : "memory"); }

// Threads: a grid that stays, blocks striding over the tiles. One thread starts the copies of a tile to come as soon as
//   all others have left its stage; of these, thread t adds up row t of a tile, so threads read x in the order of rows:
//   neighbors read neighboring entries. In an uneven tile they share the work: they multiply all its entries first.
// Bytes: every entry, offset and y once, x as often as the caches miss.
// Races: a stage is read after its barrier `full` says that its bytes are there (what the copying thread wrote itself
//   comes before its arrival there), and filled again after every reader arrived at `empty`. Entries are changed only
//   by multiply_in_place(), and all meet before they read products. Long rows: LongRow.
template <bool with_dots, class T, class Offset>
__global__ void __launch_bounds__(staged_threads, StagedTuning::blocks<T>)
    csr_staged_kernel(const __grid_constant__ Product<CsrView<const T, Offset>> p,
                      const __grid_constant__ CsrTilesView tiles, Skip skip,
                      GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ std::uint64_t full[stages], empty[stages];
  __shared__ TileBounds<Offset> bounds[stages];
  const StagedMemory<T, Offset> m(memory, tiles.tiling);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto stride = static_cast<std::int32_t>(gridDim.x);
  if (thread < stages) {
    init_barrier(full[thread], 1);
    init_barrier(empty[thread], staged_rows);
  }
  __syncthreads();
  RowBook<with_dots, CsrView<const T, Offset>> book(p);
  if (thread == staged_rows) {
    auto t = static_cast<std::int32_t>(blockIdx.x);
    TileBounds<Offset> next{};
    if (t < tiles.count) next = TileBounds<Offset>::of(tiles, t);
    for (unsigned round = 0; t < tiles.count; ++round) {
      const unsigned stage = round % stages;
      const TileBounds<Offset> tile = next;
      t += stride;
      if (t < tiles.count) next = TileBounds<Offset>::of(tiles, t);  // asked for before the wait
      if (round >= stages) wait_for_phase(empty[stage], round / stages % 2 ^ 1);
      bounds[stage] = tile;
      fill_stage(p.a, tile, m, static_cast<int>(stage), full[stage]);
    }
  } else if (thread < staged_rows) {
    const auto first_column = static_cast<std::int32_t>(p.a.base);
    const auto base = static_cast<Offset>(p.a.base);
    constexpr int flight = StagedTuning::flight<T>, few = StagedTuning::few<T>;
    const bool few_entries = few < flight && tiles.tiling.entries <= few * staged_rows;  // a row, in the mean
    unsigned round = 0;
    for (auto t = static_cast<std::int32_t>(blockIdx.x); t < tiles.count; t += stride, ++round) {
      const unsigned stage = round % stages;
      wait_for_phase(full[stage], round / stages % 2);
      const TileBounds<Offset>& tile = bounds[stage];
      T* values = m.values + stage * m.entries;
      const std::int32_t* columns = m.columns + stage * m.entries;
      const Offset* offsets = m.offsets + stage * m.offsets_a_stage + tile.first_row % copy_alignment;
      const Offset from = tile.begin / copy_alignment * copy_alignment;
      const int rows = tile.end_row - tile.first_row;
      const auto bounds_of = [&](int r) {
        return r < staged_rows ? offsets + r : p.a.row_offsets + tile.first_row + r;
      };
      if (tile.began < 0) {
        for (int r = thread; r < rows; r += staged_rows) {
          const Offset* row = bounds_of(r);
          const auto own = book.fetch(tile.first_row + r);
          const auto row_begin = static_cast<int>(row[0] - base - from),
                     row_end = static_cast<int>(row[1] - base - from);
          const T sum = few_entries ? sum_alone<few>(values, columns, first_column, p.x, row_begin, row_end)
                                    : sum_alone<flight>(values, columns, first_column, p.x, row_begin, row_end);
          book.put(tile.first_row + r, sum, own);
        }
      } else {
        multiply_in_place(values, columns, first_column, p.x, static_cast<int>(tile.begin - from),
                          static_cast<int>(tile.end - from));
        meet_readers();
        const int goes_on = tile.begin < offsets[0] - base;                 // the row before: number -1
        const int spread = thread % 32 * (staged_rows / 32) + thread / 32;  // neighboring rows for different warps
        for (int first = -goes_on; first < rows; first += staged_rows) {
          const int r = first + spread;
          const bool there = r < rows;
          Offset begin = tile.begin, end = tile.begin;
          if (there && r >= 0) begin = bounds_of(r)[0] - base;
          if (there) end = bounds_of(r)[1] - base;
          const bool is_part = r < 0 || end > tile.end;
          if (is_part) end = min(end, tile.end);
          const T sum = sum_products(values, static_cast<int>(begin - from), static_cast<int>(end - from));
          if (there && !is_part) book.put(tile.first_row + r, sum);
          if (__any_sync(~0u, is_part))
            book_parts(p, tiles, t, is_part && end > begin,
                       RowPart<T>{tile.first_row + r, r < 0 ? tile.began : t, static_cast<unsigned>(end - begin), sum});
        }
        before_next_copy();
      }
      arrive(empty[stage]);
    }
  }
  finish(book, p, tiles, scratch);
}

}  // namespace krill::detail
