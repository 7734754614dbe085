// The second half of the transposition by buckets: every bucket in its order.
#pragma once
#include "sparse/convert/radix_sort.cuh"
#include "sparse/convert/transpose_task.cuh"

namespace krill::detail {

struct BucketTuning {
  static constexpr int threads = 512;  ///< of a block. Not varied.
  static constexpr int blocks = 2;     ///< that share a multiprocessor: more entries in flight while others compare
  static constexpr int run = 64;       ///< entries of a column that are ranked by comparing each with each. Not varied.
};

template <class Payload>
inline constexpr int bucket_items = bucket_capacity<Payload> / BucketTuning::threads;

/// A bucket in shared memory. Entry p of it is values[p], rows[p], lows[p]; those of column c begin at starts[c].
template <class Payload>
struct SharedBucket {
  static constexpr int capacity = bucket_capacity<Payload>;
  static constexpr std::size_t bytes =
      capacity * (payload_bytes<Payload> + 2 * sizeof(unsigned)) + (CapacityTuning::max_columns + 1) * sizeof(unsigned);

  Payload* values;
  std::int32_t* rows;
  unsigned *lows, *starts;
  int tie_bits;

  __device__ SharedBucket(unsigned char* memory, int bits)
      : values(reinterpret_cast<Payload*>(memory)),
        rows(reinterpret_cast<std::int32_t*>(memory + capacity * payload_bytes<Payload>)),
        lows(reinterpret_cast<unsigned*>(rows + capacity)),
        starts(lows + capacity),
        tie_bits(bits) {}

  __device__ unsigned column(unsigned p) const { return lows[p] >> tie_bits; }
  /// Whether entry q comes before an entry of the same column with these two. Its low differs from the other's where
  /// its row does not.
  __device__ bool before(unsigned q, std::int32_t row, unsigned low) const {
    return rows[q] < row || (rows[q] == row && lows[q] < low);
  }
};

/// A range of entries.
struct EntryRange {
  unsigned begin, end;
};

/// The run of entry p, and where its column begins and ends.
template <class Payload>
__device__ EntryRange run_of(const SharedBucket<Payload>& bucket, unsigned p) {
  const unsigned column = bucket.column(p), begin = bucket.starts[column], end = bucket.starts[column + 1];
  const unsigned from = begin + (p - begin) / BucketTuning::run * BucketTuning::run;
  return {from, min(end, from + BucketTuning::run)};
}

/// array[place[i]] = array[p] for each entry p of a thread. By the whole block.
template <int items, class Entry>
__device__ void permute(Entry* array, const unsigned (&place)[items], unsigned n) {
  Entry mine[items];
#pragma unroll
  for (int i = 0; i < items; ++i)
    if (const unsigned p = i * BucketTuning::threads + threadIdx.x; p < n) mine[i] = array[p];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i)
    if (i * BucketTuning::threads + threadIdx.x < n) array[place[i]] = mine[i];
  __syncthreads();
}

/// Turns the entries of each column, in `starts`, into where it begins; begin(c, start) is told, too. The length of the
/// longest column goes to `longest` where it is more than a run. By the whole block.
template <class Begin>
__device__ void scan_columns(unsigned* starts, unsigned width, unsigned n, unsigned* longest, const Begin& begin) {
  __shared__ unsigned warp_sums[BucketTuning::threads / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned share = (width + BucketTuning::threads - 1) / BucketTuning::threads;
  const unsigned first = min(width, threadIdx.x * share), end = min(width, first + share);
  unsigned sum = 0, most = 0;
  for (unsigned c = first; c < end; ++c) {
    sum += starts[c];
    most = max(most, starts[c]);
  }
  unsigned at = sum;
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(~0u, at, d);
    if (lane >= d) at += other;
  }
  most = __reduce_max_sync(~0u, most);
  if (lane == 31) {
    warp_sums[warp] = at;
    if (most > BucketTuning::run) atomicMax(longest, most);
  }
  __syncthreads();
  at += __reduce_add_sync(~0u, lane < warp ? warp_sums[lane] : 0) - sum;
  for (unsigned c = first; c < end; ++c) {
    const unsigned entries = starts[c];
    starts[c] = at;
    begin(c, at);
    at += entries;
  }
  if (threadIdx.x == 0) starts[width] = n;
  __syncthreads();
}

// Threads: a block a bucket, which it keeps in registers and shared memory. By column with atomics; then an entry's
//   rank in its run of 64 by comparing with all of them, as most columns have no more; longer columns merge their runs,
//   an entry finding its place by bisection.
// Bytes: a record an entry, the result once, in order.
// Races: places in a column are handed out in any order, which the ranks make up for; arrays change between barriers.
template <class Payload, class Offset>
__global__ void __launch_bounds__(BucketTuning::threads, BucketTuning::blocks)
    bucket_kernel(BitTranspose<Payload, Offset> task, Buckets buckets, const count_t<Offset>* __restrict__ starts,
                  const Record<Payload>* __restrict__ records) {
  using Count = count_t<Offset>;
  constexpr int items = bucket_items<Payload>;
  extern __shared__ __align__(16) unsigned char bucket_memory[];
  __shared__ unsigned longest;
  __shared__ int moves;
  const SharedBucket<Payload> bucket(bucket_memory, buckets.tie_bits);
  const Count first = starts[blockIdx.x], entries = starts[blockIdx.x + 1] - first;
  if (entries > SharedBucket<Payload>::capacity) return;  // it is hot
  const auto n = static_cast<unsigned>(entries);
  const unsigned first_col = blockIdx.x * buckets.width;
  const unsigned width = min(buckets.width, static_cast<unsigned>(buckets.cols) - first_col);
  const auto for_entries = [&](auto&& use) {
#pragma unroll
    for (int i = 0; i < items; ++i)
      if (const unsigned p = i * BucketTuning::threads + threadIdx.x; p < n) use(i, p);
  };

  Record<Payload> record[items];
  unsigned place[items];  // where an entry belongs
  for_entries([&](int i, unsigned p) { record[i] = load_record(records + first + p); });
  for (unsigned c = threadIdx.x; c < width; c += BucketTuning::threads) bucket.starts[c] = 0;
  if (threadIdx.x == 0) {
    longest = 0;
    moves = 0;
  }
  __syncthreads();
  for_entries([&](int i, unsigned) { place[i] = atomicAdd(bucket.starts + (record[i].low >> buckets.tie_bits), 1u); });
  __syncthreads();
  scan_columns(bucket.starts, width, n, &longest, [&](unsigned c, unsigned start) {
    task.out_row_offsets[first_col + c] = static_cast<Offset>(first + start);
  });
  for_entries([&](int i, unsigned) {
    const unsigned p = bucket.starts[record[i].low >> buckets.tie_bits] + place[i];
    bucket.rows[p] = record[i].row;
    bucket.lows[p] = record[i].low;
    if constexpr (payload_bytes < Payload >> 0) bucket.values[p] = record[i].payload;
  });
  __syncthreads();

  // Ranks by row alone. Where no row comes twice in a column they are a permutation: all moves add up to nothing. Where
  // one does, equal rows get the rank of the last of them, so that they do not, and ties have to be looked at.
  int my_moves = 0;
  for_entries([&](int i, unsigned p) {
    const std::int32_t row = bucket.rows[p];
    const EntryRange run = run_of(bucket, p);
    unsigned at = run.begin - 1;
#pragma unroll 4  // not varied
    for (unsigned q = run.begin; q < run.end; ++q) at += bucket.rows[q] <= row;
    place[i] = at;
    my_moves += static_cast<int>(at) - static_cast<int>(p);
  });
  my_moves = __reduce_add_sync(~0u, my_moves);
  if (threadIdx.x % 32 == 0 && my_moves) atomicAdd(&moves, my_moves);
  __syncthreads();
  if (moves != 0) {
#pragma unroll 1
    for (int i = 0; i < items; ++i) {
      const unsigned p = i * BucketTuning::threads + threadIdx.x;
      if (p >= n) break;
      const std::int32_t row = bucket.rows[p];
      const unsigned low = bucket.lows[p];
      const EntryRange run = run_of(bucket, p);
      unsigned at = run.begin;
      for (unsigned q = run.begin; q < run.end; ++q) at += bucket.before(q, row, low);
#pragma unroll
      for (int j = 0; j < items; ++j)
        if (j == i) place[j] = at;  // so that place stays in registers
    }
  }

  for (unsigned length = BucketTuning::run; length < longest; length *= 2) {  // of sorted runs, merged two by two
    permute(bucket.rows, place, n);
    permute(bucket.lows, place, n);
    if constexpr (payload_bytes < Payload >> 0) permute(bucket.values, place, n);
    for_entries([&](int i, unsigned p) {
      const std::int32_t row = bucket.rows[p];
      const unsigned low = bucket.lows[p], column = bucket.column(p);
      const unsigned begin = bucket.starts[column], end = bucket.starts[column + 1];
      const unsigned number = (p - begin) / length;
      const unsigned mine = begin + number * length, other = begin + (number ^ 1) * length;
      unsigned from = min(other, end), to = min(other + length, end);
      while (from < to) {
        const unsigned middle = (from + to) / 2;
        if (bucket.before(middle, row, low))
          from = middle + 1;
        else
          to = middle;
      }
      place[i] = other < end ? p + from - max(other, mine) : p;
    });
  }

  for_entries([&](int i, unsigned p) {
    task.out_col_indices[first + place[i]] = bucket.rows[p];
    if constexpr (payload_bytes < Payload >> 0) task.out_values[first + place[i]] = bucket.values[p];
  });
}

// Threads: an entry each, in order of columns, striding over the grid.
// Bytes: the list's, gathered. Races: entry j writes its own place, and the offsets of the columns after that of the
//   one before it; the last of a bucket those to the bucket's end.
template <class Payload, class Offset>
__global__ void __launch_bounds__(sum_threads)
    hot_place_kernel(BitTranspose<Payload, Offset> task, Buckets buckets, Partition<Payload, Offset> partition,
                     const std::int32_t* __restrict__ sorted_cols, const std::int32_t* __restrict__ numbers) {
  using Count = count_t<Offset>;
  const HotEntries<Payload>& hot = partition.hot;
  const auto stride = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  for (std::int64_t j = std::int64_t{blockIdx.x} * sum_threads + threadIdx.x; j < hot.count; j += stride) {
    const std::int32_t col = sorted_cols[j], number = numbers[j];
    unsigned local;
    const unsigned bucket = buckets.of(static_cast<unsigned>(col), local);
    const Count place = static_cast<Count>(j) + partition.hot_gaps[bucket];
    task.out_col_indices[place] = hot.rows[number];
    if constexpr (payload_bytes < Payload >> 0) task.out_values[place] = hot.payloads[number];
    const std::int64_t first_col = std::int64_t{bucket} * buckets.width;
    const std::int64_t end_col = min(first_col + buckets.width, std::int64_t{buckets.cols});
    const std::int64_t unset = place == partition.starts[bucket] ? first_col : std::int64_t{sorted_cols[j - 1]} + 1;
    for (std::int64_t c = unset; c <= col; ++c) task.out_row_offsets[c] = static_cast<Offset>(place);
    if (place + 1 == partition.starts[bucket + 1])
      for (std::int64_t c = col + 1; c < end_col; ++c) task.out_row_offsets[c] = static_cast<Offset>(place + 1);
  }
}

/// Makes the result of what partition_entries found.
template <class Payload, class Offset>
void place_entries(const Cuda& cuda, Frame& frame, const BitTranspose<Payload, Offset>& task, const Buckets& buckets,
                   const Partition<Payload, Offset>& partition) {
  constexpr std::size_t shared = SharedBucket<Payload>::bytes;
  resident_blocks<bucket_kernel<Payload, Offset>>(cuda, shared, BucketTuning::threads);  // allows so much shared memory
  bucket_kernel<Payload, Offset><<<buckets.count, BucketTuning::threads, shared, cuda.stream>>>(
      task, buckets, partition.starts, partition.records);
  check(cudaGetLastError());
  const HotEntries<Payload>& hot = partition.hot;
  if (hot.count == 0) return;
  auto* cols = frame.take<std::int32_t>(static_cast<std::size_t>(hot.count));
  auto* numbers = frame.take<std::int32_t>(static_cast<std::size_t>(hot.count));
  sort_by_key(cuda, frame, hot.count, task.cols, hot.cols, cols, hot.numbers, numbers);
  hot_place_kernel<Payload, Offset>
      <<<grid_blocks(cuda, hot.count), sum_threads, 0, cuda.stream>>>(task, buckets, partition, cols, numbers);
  check(cudaGetLastError());
}

}  // namespace krill::detail
