// The first half of the transposition by buckets: every entry to its bucket.
#pragma once
#include "sparse/convert/convert.hpp"
#include "sparse/convert/transpose_histogram.cuh"

namespace krill::detail {

/// Marks where rows begin among the entries of a chunk: marks[place] = row - first_row, zero elsewhere. `start_of(r)`:
/// the place at which row r begins, which may lie before or behind the chunk. A warp does it together.
template <class StartOf>
__device__ void mark_rows(std::int32_t* marks, int entries, std::int32_t first_row, std::int32_t last_row,
                          const StartOf& start_of) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  __syncwarp();
#pragma unroll
  for (int u = 0; u < PartitionTuning::flight; ++u) marks[32 * u + lane] = 0;
  __syncwarp();
  if (last_row - first_row <= PartitionTuning::max_rows_of_chunk * partition_chunk) {
    for (std::int32_t r = first_row + 1 + lane; r <= last_row; r += 32) {
      const auto start = start_of(r);
      if (start < entries && start < start_of(r + 1)) marks[start] = r - first_row;
    }
  } else {  // mostly empty rows: each entry looks for its own
    for (int place = lane; place < entries; place += 32) {
      std::int32_t low = first_row, high = last_row + 1;
      while (high - low > 1) {
        const std::int32_t middle = low + (high - low) / 2;
        (start_of(middle) <= place ? low : high) = middle;
      }
      if (start_of(low) == place) marks[place] = low - first_row;
    }
  }
  __syncwarp();
}

/// The sum of `mine` over the threads before; `total` over all of them. The whole block; `sums`: one a warp.
template <int threads>
__device__ unsigned sum_before(unsigned mine, unsigned* sums, unsigned& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned upto = mine;
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(~0u, upto, d);
    if (lane >= d) upto += other;
  }
  if (lane == 31) sums[warp] = upto;
  __syncthreads();
  const unsigned sum = lane < threads / 32 ? sums[lane] : 0;
  total = __reduce_add_sync(~0u, sum);
  return upto - mine + __reduce_add_sync(~0u, lane < warp ? sum : 0);
}

inline constexpr unsigned no_bucket = ~0u;  ///< of entries that take no part in the partition

/// Turns the counts of bins into where each bin begins; returns their sum. The whole block; ends with a barrier.
template <int threads>
__device__ __forceinline__ unsigned scan_bins(unsigned* bins, unsigned* warp_sums) {
  constexpr int bins_a_thread = PartitionTuning::bins / threads;
  const auto thread = static_cast<int>(threadIdx.x);
  unsigned counts[bins_a_thread], sum = 0, total;
#pragma unroll
  for (int i = 0; i < bins_a_thread; ++i) sum += counts[i] = bins[thread * bins_a_thread + i];
  unsigned place = sum_before<threads>(sum, warp_sums, total);
#pragma unroll
  for (int i = 0; i < bins_a_thread; ++i) {
    bins[thread * bins_a_thread + i] = place;
    place += counts[i];
  }
  __syncthreads();
  return total;
}

/// Sends the `total` sorted records of a block to their buckets: 32 at a time take places with one atomic for each
/// bucket among them. The whole block.
template <int threads, int flight, class Payload, class Count>
__device__ __forceinline__ void send_records(const Record<Payload>* sorted, const unsigned* sorted_buckets,
                                             unsigned total, Count* cursors, Record<Payload>* records) {
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const unsigned before_me = (1u << lane) - 1;
  Count first_place[flight];    // in the lanes that take places for others
  unsigned peer_ranks[flight];  // the leader, and how many of its places are for lanes before me
#pragma unroll
  for (int u = 0; u < flight; ++u) {
    const unsigned at = u * threads + thread, mine = at < total ? sorted_buckets[at] : no_bucket;
    const unsigned peers = __match_any_sync(~0u, mine);
    const int leader = __ffs(static_cast<int>(peers)) - 1;
    first_place[u] = 0;
    if (at < total && lane == leader) first_place[u] = fetch_add(cursors + mine, static_cast<unsigned>(__popc(peers)));
    peer_ranks[u] = static_cast<unsigned>(__popc(peers & before_me) | leader << 8);
  }
#pragma unroll
  for (int u = 0; u < flight; ++u) {
    const unsigned at = u * threads + thread;
    const Count to = __shfl_sync(~0u, first_place[u], static_cast<int>(peer_ranks[u] >> 8)) + (peer_ranks[u] & 255);
    if (at < total) store_record(records + to, sorted[at]);
  }
}

// Threads: a block a tile, a warp a chunk of it, striding over the grid. A warp marks the beginnings of rows in shared
//   memory, and the row of an entry is that of the last mark before it. The tile is sorted by bins of neighboring
//   buckets, so that a warp writes to few pages; then 32 entries at a time take places in their buckets with one atomic
//   for each bucket among them.
// Bytes: the matrix once, a record an entry. Races: places are handed out by atomics, in any order; marks are a warp's
//   own and lie where records come after the next barrier. The places of hot entries are fixed.
template <bool with_hot, class Payload, class Offset>
__global__ void __launch_bounds__(PartitionTuning::threads<Payload>, PartitionTuning::blocks<Payload>)
    partition_kernel(BitTranspose<Payload, Offset> task, unsigned chunks, const std::int32_t* __restrict__ row_of_chunk,
                     Buckets buckets, int bin_bits, count_t<Offset>* cursors, Record<Payload>* records,
                     HotEntries<Payload> hot) {
  using Count = count_t<Offset>;
  constexpr int flight = PartitionTuning::flight, threads = PartitionTuning::threads<Payload>, warps = threads / 32;
  constexpr int bins_a_thread = PartitionTuning::bins / threads;
  constexpr unsigned hot_bit = 0x80000000u;
  __shared__ Record<Payload> sorted[threads * flight];
  __shared__ unsigned sorted_buckets[threads * flight], bins[PartitionTuning::bins], warp_sums[warps];
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  auto* marks = reinterpret_cast<std::int32_t*>(sorted) + thread / 32 * partition_chunk;
  const unsigned before_me = (1u << lane) - 1, upto_me = before_me | 1u << lane;
  for (unsigned tile = blockIdx.x * warps; tile < chunks; tile += gridDim.x * warps) {
    const unsigned chunk = tile + threadIdx.x / 32;
    const Count first = Count{chunk} * partition_chunk;
    const int entries =
        chunk < chunks ? static_cast<int>(min(static_cast<Count>(task.nnz) - first, Count{partition_chunk})) : 0;
    const auto there = [&](int u) { return entries == partition_chunk || 32 * u + lane < entries; };
    unsigned local[flight];  // columns, then their numbers in their buckets
#pragma unroll
    for (int u = 0; u < flight; ++u)
      local[u] = there(u) ? static_cast<unsigned>(__ldcs(task.col_indices + first + 32 * u + lane) - task.base) : 0;
#pragma unroll
    for (int i = 0; i < bins_a_thread; ++i) bins[i * threads + thread] = 0;
    std::int32_t first_row = 0;
    int first_start = 0;  // of that row; not positive
    if (entries > 0) {
      first_row = row_of_chunk[chunk];
      const auto start_of = [&, shift = static_cast<Offset>(first) + task.base](std::int32_t row) {
        return task.row_offsets[row] - shift;
      };
      first_start = static_cast<int>(start_of(first_row));
      mark_rows(marks, entries, first_row, row_of_chunk[chunk + 1], start_of);
    }
    __syncthreads();
    unsigned bucket[flight], rank[flight];  // rank: in its bin
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      bucket[u] = buckets.of(local[u], local[u]);
      bool cold = there(u);
      if constexpr (with_hot) {
        if (cold && is_hot(hot.mask, bucket[u])) {
          cold = false;
          local[u] |= hot_bit;
        }
      }
      if (!cold) bucket[u] = no_bucket;
      rank[u] = cold ? atomicAdd(bins + (bucket[u] >> bin_bits), 1u) : 0;
    }
    Payload payload[flight];
#pragma unroll
    for (int u = 0; u < flight; ++u) payload[u] = there(u) ? task.payload(first + 32 * u + lane) : Payload{};
    std::int32_t rows[flight];
    std::int32_t row = first_row;
    int row_start = first_start;
    std::int32_t hot_at = 0;
    if constexpr (with_hot) hot_at = entries > 0 ? hot.before[chunk] : 0;
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      const int at = 32 * u + lane;
      const std::int32_t mark = entries > 0 ? marks[at] : 0;
      const unsigned begins = __ballot_sync(~0u, mark != 0), mine = begins & upto_me;
      const int from = mine ? 31 - __clz(static_cast<int>(mine)) : 0;
      const std::int32_t my_mark = __shfl_sync(~0u, mark, from);
      rows[u] = mine ? first_row + my_mark : row;
      if constexpr (with_hot) {
        const bool is_mine_hot = local[u] & hot_bit;
        const unsigned hots = __ballot_sync(~0u, is_mine_hot);
        if (is_mine_hot) {
          const std::int32_t number = hot_at + __popc(hots & before_me);
          hot.cols[number] = __ldg(task.col_indices + first + at) - task.base;
          hot.rows[number] = rows[u];
          hot.numbers[number] = number;
          if constexpr (payload_bytes < Payload >> 0) hot.payloads[number] = payload[u];
        }
        hot_at += __popc(hots);
      }
      local[u] =
          (local[u] & ~hot_bit) << buckets.tie_bits | static_cast<unsigned>(at - (mine ? 32 * u + from : row_start));
      if (begins) {
        const int last = 31 - __clz(static_cast<int>(begins));
        row = first_row + __shfl_sync(~0u, mark, last);
        row_start = 32 * u + last;
      }
    }
    __syncthreads();
    const unsigned total = scan_bins<threads>(bins, warp_sums);
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      if (bucket[u] == no_bucket) continue;
      const unsigned at = bins[bucket[u] >> bin_bits] + rank[u];
      sorted[at] = Record<Payload>{local[u], rows[u], payload[u]};
      sorted_buckets[at] = bucket[u];
    }
    __syncthreads();
    send_records<threads, flight>(sorted, sorted_buckets, total, cursors, records);
    __syncthreads();
  }
}

/// Brings the entries into their buckets, in the frame's memory. False, and nothing of use is done, where so many of
/// them are hot that a radix sort of all does no worse, or where a row is too long.
template <class Payload, class Offset>
bool partition_entries(const Cuda& cuda, Frame& frame, const BitTranspose<Payload, Offset>& task,
                       const Buckets& buckets, Partition<Payload, Offset>& to) {
  using Count = count_t<Offset>;
  const auto nnz = static_cast<Count>(task.nnz);
  const auto chunks = static_cast<unsigned>((task.nnz + partition_chunk - 1) / partition_chunk);
  const auto count = static_cast<std::size_t>(buckets.count);
  auto* row_of_chunk = frame.take<std::int32_t>(std::size_t{chunks} + 1);
  auto *counts = frame.take<Count>(count), *cursors = frame.take<Count>(count), *hot_gaps = frame.take<Count>(count);
  auto* starts = frame.take<Count>(count + 1);
  auto* hot_mask = frame.take<unsigned>((count + 31) / 32);
  auto* facts = frame.take<PartitionFacts>(1);
  device::fill_zero(cuda, counts, count * sizeof(Count));
  device::fill_zero(cuda, facts, sizeof *facts);
  chunk_rows_kernel<<<chunks / sum_threads + 1, sum_threads, 0, cuda.stream>>>(
      task.rows, task.nnz, task.row_offsets, chunks, buckets.tie_bits, row_of_chunk, facts);
  check(cudaGetLastError());
  if (const std::size_t bins = count * sizeof(unsigned); bins <= max_shared(cuda)) {
    const int blocks = resident_blocks<histogram_kernel<Offset>>(cuda, bins, histogram_threads);
    histogram_kernel<Offset>
        <<<blocks, histogram_threads, bins, cuda.stream>>>(nnz, task.col_indices, task.base, buckets, counts);
  } else {
    const int blocks = resident_blocks<histogram_global_kernel<Offset>>(cuda);
    histogram_global_kernel<Offset>
        <<<blocks, sum_threads, 0, cuda.stream>>>(nnz, task.col_indices, task.base, buckets, counts);
  }
  check(cudaGetLastError());
  starts_kernel<<<1, starts_threads, 0, cuda.stream>>>(buckets, unsigned{bucket_capacity<Payload>}, counts, starts,
                                                       cursors, hot_mask, hot_gaps, facts, task.out_row_offsets);
  check(cudaGetLastError());

  PartitionFacts found{};
  device::copy_out(cuda, &found, facts, sizeof found);
  constexpr unsigned long long max_hot = 0x7fffffff;  // their numbers are 32 bits wide
  if (found.long_row || found.hot > static_cast<unsigned long long>(task.nnz) / 2 || found.hot > max_hot) return false;

  const auto hot = static_cast<std::size_t>(found.hot);
  HotEntries<Payload> list{hot_mask, nullptr, static_cast<std::int32_t>(hot), nullptr, nullptr, nullptr, nullptr};
  auto* records = frame.take<Record<Payload>>(static_cast<std::size_t>(task.nnz));
  int bin_bits = 0;
  while ((buckets.count - 1) >> bin_bits >= PartitionTuning::bins) ++bin_bits;
  constexpr int threads = PartitionTuning::threads<Payload>;
  const int blocks =
      static_cast<int>(std::min<std::int64_t>((chunks + threads / 32 - 1) / (threads / 32),
                                              std::int64_t{cuda.multiprocessors} * PartitionTuning::blocks<Payload>));
  if (hot == 0) {
    partition_kernel<false, Payload, Offset>
        <<<blocks, threads, 0, cuda.stream>>>(task, chunks, row_of_chunk, buckets, bin_bits, cursors, records, list);
  } else {
    auto *hot_counts = frame.take<std::int32_t>(chunks), *before = frame.take<std::int32_t>(std::size_t{chunks} + 1);
    list.before = before;
    list.cols = frame.take<std::int32_t>(hot);
    list.rows = frame.take<std::int32_t>(hot);
    list.numbers = frame.take<std::int32_t>(hot);
    if constexpr (payload_bytes < Payload >> 0) list.payloads = frame.take<Payload>(hot);
    hot_count_kernel<Offset><<<grid_blocks(cuda, chunks, sum_threads / 32), sum_threads, 0, cuda.stream>>>(
        nnz, chunks, task.col_indices, task.base, buckets, hot_mask, hot_counts);
    check(cudaGetLastError());
    scan_counts(cuda, chunks, hot_counts, before);
    partition_kernel<true, Payload, Offset>
        <<<blocks, threads, 0, cuda.stream>>>(task, chunks, row_of_chunk, buckets, bin_bits, cursors, records, list);
  }
  check(cudaGetLastError());
  to = {starts, records, list, hot_gaps};
  return true;
}

}  // namespace krill::detail
