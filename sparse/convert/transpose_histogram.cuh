// The transposition by buckets before it moves entries: how many each bucket gets, and which buckets are hot.
#pragma once
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/convert/transpose_task.cuh"

namespace krill::detail {

struct HistogramTuning {
  static constexpr int threads = 1024;  ///< of a block that counts in shared memory. Not varied.
  static constexpr unsigned flight = 8,
                            global_flight = 4;  ///< entries of a thread; where counts are global. Not varied.
  static constexpr int starts_threads = 1024;   ///< of the one block that adds counts up. Not varied.
};

inline constexpr int histogram_threads = HistogramTuning::threads, starts_threads = HistogramTuning::starts_threads;

/// What the host waits for.
struct PartitionFacts {
  unsigned long long hot;  ///< entries of hot buckets
  unsigned long_row;       ///< a row is longer than the bits for ties can tell
};

template <class Count>
__device__ Count fetch_add(Count* at, unsigned n) {
  return atomicAdd(at, static_cast<Count>(n));
}

__device__ inline bool is_hot(const unsigned* mask, unsigned bucket) {
  return __ldg(mask + bucket / 32) >> (bucket % 32) & 1;
}

// Threads: one a chunk, and one more for the last entry. row_of_chunk: the row of its first entry. A row too long for
//   its ties is longer than a chunk, so that a chunk begins in it.
// Bytes: a bisection of the offsets. Races: long_row is stored as one by all that store it.
template <class Offset>
__global__ void __launch_bounds__(sum_threads)
    chunk_rows_kernel(std::int32_t rows, std::int64_t nnz, const Offset* __restrict__ row_offsets, unsigned chunks,
                      int tie_bits, std::int32_t* row_of_chunk, PartitionFacts* facts) {
  const unsigned chunk = blockIdx.x * sum_threads + threadIdx.x;
  if (chunk > chunks) return;
  const std::int32_t row = row_of_entry(row_offsets, rows, min(std::int64_t{chunk} * partition_chunk, nnz - 1));
  row_of_chunk[chunk] = row;
  if (std::int64_t{row_offsets[row + 1] - row_offsets[row]} >= std::int64_t{1} << tie_bits) facts->long_row = 1;
}

// Threads: a block a contiguous share of the entries, which it counts in shared memory.
// Bytes: the columns once. Races: atomics; the counts are added to the others' between barriers.
template <class Offset>
__global__ void __launch_bounds__(histogram_threads)
    histogram_kernel(count_t<Offset> nnz, const std::int32_t* __restrict__ col_indices, std::int32_t base,
                     Buckets buckets, count_t<Offset>* counts) {
  using Count = count_t<Offset>;
  constexpr unsigned flight = HistogramTuning::flight;
  extern __shared__ unsigned bins[];
  for (int b = static_cast<int>(threadIdx.x); b < buckets.count; b += histogram_threads) bins[b] = 0;
  __syncthreads();
  const Count share = (nnz + gridDim.x - 1) / gridDim.x;
  const Count first = min(nnz, blockIdx.x * share);
  const Count end = min(nnz, first + share);
  const auto count = [&](std::int32_t col) {
    unsigned local;
    atomicAdd(bins + buckets.of(static_cast<unsigned>(col - base), local), 1u);
  };
  Count k = first + threadIdx.x;
  for (; k + (flight - 1) * histogram_threads < end; k += flight * histogram_threads) {
    std::int32_t cols[flight];
#pragma unroll
    for (unsigned u = 0; u < flight; ++u) cols[u] = __ldg(col_indices + k + u * histogram_threads);
#pragma unroll
    for (unsigned u = 0; u < flight; ++u) count(cols[u]);
  }
  for (; k < end; k += histogram_threads) count(__ldg(col_indices + k));
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < buckets.count; b += histogram_threads)
    if (bins[b]) fetch_add(counts + b, bins[b]);
}

// For more buckets than shared memory has room for.
// Threads: an entry each, striding over the grid; a warp counts equal buckets together.
// Bytes: the columns once. Races: atomics.
template <class Offset>
__global__ void __launch_bounds__(sum_threads)
    histogram_global_kernel(count_t<Offset> nnz, const std::int32_t* __restrict__ col_indices, std::int32_t base,
                            Buckets buckets, count_t<Offset>* counts) {
  using Count = count_t<Offset>;
  constexpr unsigned flight = HistogramTuning::global_flight, tile = flight * sum_threads;
  for (Count first = Count{blockIdx.x} * tile; first < nnz; first += Count{gridDim.x} * tile) {
#pragma unroll
    for (unsigned u = 0; u < flight; ++u) {
      const Count k = first + u * sum_threads + threadIdx.x;
      unsigned bucket = ~0u, local;
      if (k < nnz) bucket = buckets.of(static_cast<unsigned>(__ldg(col_indices + k) - base), local);
      const unsigned peers = __match_any_sync(~0u, bucket);
      const int leader = __ffs(static_cast<int>(peers)) - 1;
      if (k < nnz && static_cast<int>(threadIdx.x % 32) == leader)
        fetch_add(counts + bucket, static_cast<unsigned>(__popc(peers)));
    }
  }
}

/// Two sums that are found together: entries, and hot ones among them.
template <class Count>
struct EntrySums {
  Count all, hot;
};

// Threads: one block. A thread adds up neighboring buckets, whole words of the mask; then a scan over the threads.
// Bytes: the counts twice, what it writes. Races: sums of warps are read after the barrier.
template <class Offset>
__global__ void __launch_bounds__(starts_threads)
    starts_kernel(Buckets buckets, unsigned most, const count_t<Offset>* __restrict__ counts, count_t<Offset>* starts,
                  count_t<Offset>* cursors, unsigned* hot_mask, count_t<Offset>* hot_gaps, PartitionFacts* facts,
                  Offset* out_row_offsets) {
  using Count = count_t<Offset>;
  __shared__ EntrySums<Count> warp_sums[starts_threads / 32];
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int words = (buckets.count + 32 * starts_threads - 1) / (32 * starts_threads);
  const std::int64_t first = std::int64_t{thread} * words * 32;
  const std::int64_t end = min(std::int64_t{buckets.count}, first + words * 32);
  EntrySums<Count> mine{};
#pragma unroll 8  // not varied
  for (std::int64_t b = first; b < end; ++b) {
    const Count n = counts[b];
    mine.all += n;
    if (n > most) mine.hot += n;
  }
  EntrySums<Count> upto = mine;
  for (int d = 1; d < 32; d *= 2) {
    const Count all = __shfl_up_sync(~0u, upto.all, d), hot = __shfl_up_sync(~0u, upto.hot, d);
    if (lane >= d) {
      upto.all += all;
      upto.hot += hot;
    }
  }
  if (lane == 31) warp_sums[warp] = upto;
  __syncthreads();
  EntrySums<Count> at{upto.all - mine.all, upto.hot - mine.hot};
  for (int w = 0; w < warp; ++w) {
    at.all += warp_sums[w].all;
    at.hot += warp_sums[w].hot;
  }
  if (thread == starts_threads - 1) {
    starts[buckets.count] = at.all + mine.all;
    out_row_offsets[buckets.cols] = static_cast<Offset>(at.all + mine.all);
    facts->hot = at.hot + mine.hot;
  }
  for (std::int64_t b = first; b < end; b += 32) {
    unsigned mask = 0;
#pragma unroll 8  // not varied
    for (int bit = 0; bit < 32; ++bit) {
      if (b + bit >= end) continue;
      const Count n = counts[b + bit];
      starts[b + bit] = at.all;
      cursors[b + bit] = at.all;
      hot_gaps[b + bit] = at.all - at.hot;
      at.all += n;
      if (n > most) {
        mask |= 1u << bit;
        at.hot += n;
      }
    }
    hot_mask[b / 32] = mask;
  }
}

// Threads: a warp a chunk, striding over the grid. Bytes: the columns once. Races: a chunk's count is one lane's.
template <class Offset>
__global__ void __launch_bounds__(sum_threads)
    hot_count_kernel(count_t<Offset> nnz, unsigned chunks, const std::int32_t* __restrict__ col_indices,
                     std::int32_t base, Buckets buckets, const unsigned* __restrict__ hot_mask,
                     std::int32_t* hot_counts) {
  using Count = count_t<Offset>;
  const unsigned lane = threadIdx.x % 32;
  constexpr unsigned warps = sum_threads / 32;
  for (unsigned chunk = blockIdx.x * warps + threadIdx.x / 32; chunk < chunks; chunk += gridDim.x * warps) {
    unsigned hot = 0;
#pragma unroll
    for (unsigned u = 0; u < PartitionTuning::flight; ++u) {
      const Count k = Count{chunk} * partition_chunk + 32 * u + lane;
      unsigned local;
      if (k < nnz) hot += is_hot(hot_mask, buckets.of(static_cast<unsigned>(__ldg(col_indices + k) - base), local));
    }
    hot = __reduce_add_sync(~0u, hot);
    if (lane == 0) hot_counts[chunk] = static_cast<std::int32_t>(hot);
  }
}

}  // namespace krill::detail
