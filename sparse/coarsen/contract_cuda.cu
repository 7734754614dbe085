#include <algorithm>

#include "sparse/coarsen/contract_passes.hpp"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

constexpr int at_once = 4;  ///< rows, or entries, of A that are on their way at a time. Not varied.

/// What lanes of a team add up: entry `column` of a row of C each, -1 for none, of columns from `low` to `high`.
template <class T>
struct TeamSums {
  int lanes;
  std::int32_t column, low, high;
  T sum{};

  /// Adds an entry of each lane, those in [low, high], in the order of lanes. Every thread of the warp calls it.
  __device__ void add(std::int32_t of_entry, T value) {
    const bool wanted = of_entry >= low && of_entry <= high;
    const std::int32_t sent = wanted ? of_entry : -2;
    unsigned busy = __ballot_sync(~0u, wanted);
    for (int other = 16; other >= lanes; other /= 2) busy |= busy >> other;
    for (busy &= ~0u >> (32 - lanes); busy != 0; busy &= busy - 1) {
      const int source = __ffs(static_cast<int>(busy)) - 1, width = lanes;
      const std::int32_t to = __shfl_sync(~0u, sent, source, width);
      const T part = on_words(value, [=](unsigned word) { return __shfl_sync(~0u, word, source, width); });
      if (to == column) sum += part;
    }
  }
};

/// Entries [first, end) of a row of C, `lanes` at a time, each a lane's: all lanes load an entry of A each, and those
/// that a lane waits for go round. Every thread of the warp calls it.
template <class T, class Offset>
__device__ void sum_entries(const Contraction<T, Offset>& p, std::int64_t aggregate, std::int64_t first,
                            std::int64_t end, int lanes) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  std::int32_t r_begin = 0, r_end = 0;
  if (first < end) r_begin = p.offsets[aggregate], r_end = p.offsets[aggregate + 1];
  for (; __any_sync(~0u, first < end); first += lanes) {
    const std::int64_t at = first + lane, last = first + lanes < end ? first + lanes - 1 : end - 1;
    TeamSums<T> mine{lanes, -1, 0, -1};
    if (at < end) mine.column = p.c.col_indices[at];
    if (first < end) mine.low = p.c.col_indices[first], mine.high = p.c.col_indices[last];
    if (first >= end) r_end = r_begin;
    const auto shuffle_in_team = [lanes](std::int64_t value, int source) {
      return __shfl_sync(~0u, value, source, lanes);
    };
    const auto load = [&](std::int64_t k, std::int64_t k_end, std::int32_t& column, T& value) {
      column = -1;
      if (k < k_end) column = p.of_row[p.a.col_indices[k]], value = p.a.values[k];
    };
    for (std::int32_t r = r_begin; __any_sync(~0u, r < r_end); r += lanes) {
      std::int64_t row_begin = 0, row_end = 0;  // of the lane's row
      if (r_end - r > lane) {
        const std::int32_t row = p.rows[r + lane];
        row_begin = p.a.row_offsets[row], row_end = p.a.row_offsets[row + 1];
      }
      const bool has_long = __any_sync(~0u, row_end - row_begin > lanes);
      for (int j = 0; j < lanes && __any_sync(~0u, j < r_end - r); j += at_once) {
        std::int32_t columns[at_once];
        T values[at_once] = {};
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const std::int64_t k = shuffle_in_team(row_begin, j + u) + lane;
          load(k, shuffle_in_team(row_end, j + u), columns[u], values[u]);
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          mine.add(columns[u], values[u]);
          if (!has_long) continue;
          const std::int64_t k_end = shuffle_in_team(row_end, j + u);
          for (std::int64_t k = shuffle_in_team(row_begin, j + u) + lanes; __any_sync(~0u, k < k_end); k += lanes) {
            load(k + lane, k_end, columns[u], values[u]);
            mine.add(columns[u], values[u]);
          }
        }
      }
    }
    if (at < end) p.values[at] = mine.sum;
  }
}

/// Entries of C that a thread sums, in shared memory: those of the threads of a warp lie side by side, so that no two
/// meet in a bank.
template <class T>
struct ThreadSums {
  static constexpr int threads = 128, held = ContractTuning::held;
  std::int32_t* columns;  // of the thread's first entry, ascending
  T* sums;
  int count = 0;

  /// Of a block with `memory(room)` bytes, for `room` entries a thread.
  __device__ ThreadSums(unsigned char* memory, int room)
      : columns(reinterpret_cast<std::int32_t*>(memory + room * threads * sizeof(T)) + threadIdx.x),
        sums(reinterpret_cast<T*>(memory) + threadIdx.x) {}
  static constexpr std::size_t memory(int room) {
    return static_cast<std::size_t>(room) * threads * (sizeof(T) + sizeof(std::int32_t));
  }

  __device__ std::int32_t& column(int s) const { return columns[s * threads]; }
  __device__ T& sum(int s) const { return sums[s * threads]; }

  /// Adds to the entry of a column, which is made where there is none. place: where the last one was, and then where
  /// this one is. False where there is no room.
  __device__ bool add(std::int32_t of_entry, T value, int room, int& place) {
    while (place < count && column(place) < of_entry) ++place;
    while (place > 0 && column(place - 1) >= of_entry) --place;
    if (place == count || column(place) != of_entry) {
      if (count == room) return false;
      for (int s = count++; s > place; --s) column(s) = column(s - 1), sum(s) = sum(s - 1);
      column(place) = of_entry, sum(place) = T{};
    }
    sum(place) += value;
    return true;
  }
};

/// Entries [first, first + count) of a row of C, by a thread: the rows of its aggregate one after the other, a few
/// entries of A on their way.
template <class T, class Offset>
__device__ void sum_in_thread(const Contraction<T, Offset>& p, std::int64_t aggregate, const ThreadSums<T>& held) {
  const std::int32_t low = held.column(0), high = held.column(held.count - 1);
  for (std::int32_t r = p.offsets[aggregate]; r < p.offsets[aggregate + 1]; ++r) {
    const std::int32_t row = p.rows[r];
    const Offset end = p.a.row_offsets[row + 1];
    for (Offset k = p.a.row_offsets[row]; k < end; k += at_once) {
      std::int32_t column[at_once];
      T value[at_once];
      int place[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const bool there = k + u < end;
        column[u] = there ? p.of_row[p.a.col_indices[k + u]] : -1;
        value[u] = there ? p.a.values[k + u] : T{};
        place[u] = 0;
      }
#pragma unroll
      for (int step = ThreadSums<T>::held / 2; step > 0; step /= 2)  // the last entry that is not beyond the column
#pragma unroll
        for (int u = 0; u < at_once; ++u)
          if (place[u] + step < held.count && held.column(place[u] + step) <= column[u]) place[u] += step;
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (column[u] >= low && column[u] <= high && held.column(place[u]) == column[u]) held.sum(place[u]) += value[u];
    }
  }
}

// Threads: one a row of C, up to ThreadSums::held entries at a time; rows with pieces have their warps in the other
//   kernel.
// Bytes: A and its rows' list once for each `held` entries of a row of C, aggregates of columns as often as the caches
//   miss; C once. Races: none, a row is one thread's.
template <class T, class Offset>
__global__ void __launch_bounds__(ThreadSums<T>::threads) contract_rows_kernel(Contraction<T, Offset> p, Skip skip) {
  constexpr int threads = ThreadSums<T>::threads, held = ThreadSums<T>::held;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  ThreadSums<T> mine(memory, held);
  for (std::int64_t aggregate = std::int64_t{blockIdx.x} * threads + threadIdx.x; aggregate < p.c.rows;
       aggregate += std::int64_t{gridDim.x} * threads) {
    if (p.pieces > 0 && p.piece_starts[aggregate] < p.piece_starts[aggregate + 1]) continue;
    const std::int64_t end = p.c.row_offsets[aggregate + 1];
    for (std::int64_t first = p.c.row_offsets[aggregate]; first < end; first += held) {
      mine.count = end - first < held ? static_cast<int>(end - first) : held;
      for (int s = 0; s < mine.count; ++s) mine.column(s) = p.c.col_indices[first + s], mine.sum(s) = T{};
      sum_in_thread(p, aggregate, mine);
      for (int s = 0; s < mine.count; ++s) p.values[first + s] = mine.sum(s);
    }
  }
}

/// The entries of a row of C, by a thread: those of the rows of its aggregate one after the other. False where there is
/// no room for one.
template <class T, class Offset>
__device__ bool find_in_thread(const ContractionRows<T, Offset>& p, std::int32_t aggregate, ThreadSums<T>& found) {
  bool fits = true;
  for (std::int32_t r = p.offsets[aggregate]; r < p.offsets[aggregate + 1]; ++r) {
    const std::int32_t row = p.rows[r];
    const Offset end = p.a.row_offsets[row + 1];
    int place = 0;
    for (Offset k = p.a.row_offsets[row]; k < end; k += at_once) {
      std::int32_t column[at_once];
      T value[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (k + u < end) column[u] = p.of_row[p.a.col_indices[k + u]], value[u] = p.a.values[k + u];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (k + u >= end) break;
        const bool is_there = column[u] >= 0;
        fits = found.add(is_there ? column[u] : aggregate, is_there ? value[u] : T{}, p.room, place) && fits;
      }
    }
  }
  return fits;
}

// Threads: one a row of C, whose entries lie in shared memory in the order of columns.
// Bytes: A and its rows' list once, aggregates of columns as often as the caches miss; columns and values of C once,
//   entries of neighboring rows side by side. Races: none, a row is one thread's.
template <class T, class Offset>
__global__ void __launch_bounds__(ThreadSums<T>::threads)
    find_rows_kernel(ContractionRows<T, Offset> p, Skip skip, GridScratch<FoundRows> scratch) {
  constexpr int threads = ThreadSums<T>::threads;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  ThreadSums<T> mine(memory, p.room);
  FoundRows found;
  for (std::int64_t row = std::int64_t{blockIdx.x} * threads + threadIdx.x; row < p.count;
       row += std::int64_t{gridDim.x} * threads) {
    mine.count = 0;
    const bool fits = find_in_thread(p, static_cast<std::int32_t>(row), mine);
    for (int s = 0; s < mine.count; ++s) {
      const std::int64_t at = row + std::int64_t{s} * p.count;
      p.columns[at] = mine.column(s), p.values[at] = mine.sum(s);
    }
    p.counts[row] = static_cast<Offset>(mine.count);
    found += FoundRows{mine.count, mine.count, fits ? 0 : 1};
  }
  grid_sum(found, scratch, [&](const FoundRows& all) { *p.found = all; });
}

// Threads: a block has neighboring rows, a thread each: entries come side by side across rows, and leave side by side
//   along them; in between they lie in shared memory.
// Bytes: entries and offsets of C, read and written. Races: a barrier between the two, and one before the next rows.
template <class T, class Offset>
__global__ void __launch_bounds__(ThreadSums<T>::threads)
    pack_rows_kernel(ContractionRows<T, Offset> p, const Offset* row_offsets, std::int32_t* col_indices, T* values,
                     Skip skip) {
  constexpr int threads = ThreadSums<T>::threads;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  T* const sums = reinterpret_cast<T*>(memory);
  auto* const columns = reinterpret_cast<std::int32_t*>(sums + p.room * threads);
  for (std::int64_t begin = std::int64_t{blockIdx.x} * threads; begin < p.count;
       begin += std::int64_t{gridDim.x} * threads) {
    const std::int64_t end = min(begin + threads, std::int64_t{p.count}), row = begin + threadIdx.x;
    const Offset first = row_offsets[begin];
    const auto all = static_cast<int>(row_offsets[end] - first);
    if (row < end) {
      const auto own = static_cast<int>(row_offsets[row] - first),
                 count = static_cast<int>(row_offsets[row + 1] - first) - own;
      for (int s = 0; s < count; ++s) {
        const std::int64_t at = row + std::int64_t{s} * p.count;
        columns[own + s] = p.columns[at], sums[own + s] = p.values[at];
      }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads)
      col_indices[first + i] = columns[i], values[first + i] = sums[i];
    __syncthreads();
  }
}

/// Blocks of a kernel whose threads have `room` entries each, for so many rows.
template <auto kernel, class T>
int blocks_of_rows(const Cuda& cuda, std::int32_t rows, int room) {
  constexpr int threads = ThreadSums<T>::threads;
  const int resident = resident_blocks<kernel>(cuda, ThreadSums<T>::memory(room), threads);
  return std::min(grid_blocks(cuda, rows, threads), resident);
}

// Threads: a warp for each 32 entries of a long row of C.
// Bytes: the rows of A that the row of C is made of, once for each 32 of its entries. Races: none, as above.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads) contract_pieces_kernel(Contraction<T, Offset> p, Skip skip) {
  if (skip.now()) return;
  constexpr int warps = sum_threads / 32;
  const std::int64_t piece = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (piece >= p.pieces) return;
  const std::int32_t aggregate = row_of_entry(p.piece_starts, p.c.rows, piece);
  const std::int64_t end = p.c.row_offsets[aggregate + 1],
                     first = p.c.row_offsets[aggregate] + (piece - p.piece_starts[aggregate]) * 32;
  sum_entries(p, aggregate, first, end - first > 32 ? first + 32 : end, 32);
}

}  // namespace

template <class T, class Offset>
void contract(const Cuda& cuda, const Contraction<T, Offset>& p) {
  if (p.c.nnz == 0) return;
  constexpr auto kernel = contract_rows_kernel<T, Offset>;
  constexpr int threads = ThreadSums<T>::threads;
  kernel<<<blocks_of_rows<kernel, T>(cuda, p.c.rows, ThreadSums<T>::held), threads,
           ThreadSums<T>::memory(ThreadSums<T>::held), cuda.stream>>>(p, cuda.skip);
  check(cudaGetLastError());
  if (p.pieces == 0) return;
  constexpr int warps = sum_threads / 32;
  contract_pieces_kernel<<<static_cast<unsigned>((p.pieces + warps - 1) / warps), sum_threads, 0, cuda.stream>>>(
      p, cuda.skip);
  check(cudaGetLastError());
}

template <class T, class Offset>
void find_rows(const Cuda& cuda, const ContractionRows<T, Offset>& p) {
  constexpr auto kernel = find_rows_kernel<T, Offset>;
  const int blocks = blocks_of_rows<kernel, T>(cuda, p.count, p.room);
  Frame frame(cuda);
  kernel<<<blocks, ThreadSums<T>::threads, ThreadSums<T>::memory(p.room), cuda.stream>>>(
      p, cuda.skip, grid_scratch<FoundRows>(cuda, frame, blocks));
  check(cudaGetLastError());
}

template <class T, class Offset>
void pack_rows(const Cuda& cuda, const ContractionRows<T, Offset>& p, const Offset* row_offsets,
               std::int32_t* col_indices, T* values) {
  constexpr auto kernel = pack_rows_kernel<T, Offset>;
  kernel<<<blocks_of_rows<kernel, T>(cuda, p.count, p.room), ThreadSums<T>::threads, ThreadSums<T>::memory(p.room),
           cuda.stream>>>(p, row_offsets, col_indices, values, cuda.skip);
  check(cudaGetLastError());
}

template <class T, class Offset, class K = kernel_t<T>>
struct FoundRowKernels {
  using Rows = ContractionRows<K, Offset>;
  static constexpr std::tuple list{
      instance<void(const Cuda&, const Rows&)>(find_rows),
      instance<void(const Cuda&, const Rows&, const Offset*, std::int32_t*, K*)>(pack_rows)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(FoundRowKernels);

template class ContractPasses<std::int32_t, Cuda>;
template class ContractPasses<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(ContractKernels, Cuda);

}  // namespace krill::detail
