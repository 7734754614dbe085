#include <algorithm>
#include <bit>

#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/spgemm/block_pattern.hpp"
#include "sparse/spgemm/merge_rows.cuh"
#include "sparse/spgemm/rows_of_b.cuh"

namespace krill::detail {
namespace {

constexpr int sort_threads = 128, mark_threads = 512;
constexpr int mark_at_once = 8;     ///< entries of B that a thread has on their way. Not varied.
constexpr int short_row = 2;        ///< entries of a row of B that one lane lists by itself. Not varied.
constexpr int max_share = 64;       ///< rows that a block looks through for those that are for its sets. Not varied.
constexpr int few_sorted = 64;      ///< products of a row whose columns eight lanes sort
constexpr int max_of_block = 4096;  ///< entries of a row of C for which a block has a set. Not varied.
constexpr int max_tried = 8 * max_of_block;  ///< products of such a row
constexpr int few_held = ProductTuning::few_held;
/// Blocks that a multiprocessor is to hold: as many as shared memory, or the limit of threads, has room for.
constexpr int hash_blocks(int most) { return most > few_held ? 8 : 16; }
constexpr std::int64_t max_numbered = std::int64_t{1} << 30;  ///< products of a row that a warp counts in 32 bits
constexpr std::int64_t retry = -1;                            ///< in place of a count: a larger set is needed

/// Sorts the keys that lanes have in registers, bitonically: key i of lane l is then number l each + i. Every thread of
/// the warp calls it.
template <int lanes, int each>
__device__ void sort_in_team(std::int32_t (&keys)[each]) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
#pragma unroll
  for (int size = 2; size <= lanes * each; size *= 2) {
#pragma unroll
    for (int stride = size / 2; stride > 0; stride /= 2) {
#pragma unroll
      for (int i = 0; i < each; ++i) {
        const bool up = size < each ? (i & size) == 0 : (lane & size / each) == 0;
        if (stride >= each) {
          const std::int32_t other = __shfl_xor_sync(~0u, keys[i], stride / each, lanes);
          const bool lower = (lane & stride / each) == 0;
          keys[i] = lower == up ? min(keys[i], other) : max(keys[i], other);
        } else if ((i & stride) == 0) {
          const std::int32_t low = min(keys[i], keys[i + stride]), high = max(keys[i], keys[i + stride]);
          keys[i] = up ? low : high, keys[i + stride] = up ? high : low;
        }
      }
    }
  }
}

// Threads: a team a row of C with at most lanes x each products, whose columns it sorts in its registers. Warps stay
//   together.
// Bytes: rows of B as often as the caches miss, 4 an entry; what the sink writes. Races: none, a row is one team's.
template <int lanes, int each, class Offset, class Sink>
__global__ void __launch_bounds__(sort_threads) sort_products_kernel(ProductPattern<Offset> p, Sink sink, Skip skip) {
  constexpr int teams = sort_threads / lanes, places = lanes * each;
  constexpr int apart = places + lanes;  // teams of a warp have banks of their own
  __shared__ std::int32_t shared[teams * apart];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  std::int32_t* const columns = shared + team * apart;
  const std::int64_t row = std::int64_t{blockIdx.x} * teams + team;
  const bool mine = row < p.a.rows && p.products[row] <= places;
  if (!__any_sync(~0u, mine)) return;
  Offset k = mine ? p.a.row_offsets[row] : 0, end = mine ? p.a.row_offsets[row + 1] : 0;
  int filled = 0;
  for (; __any_sync(~0u, k < end); k += lanes) {
    const RowsOfB<Offset> rows(p.a, p.b, k, end, lane);
    int before = rows.length;  // entries up to this row of B, then those before it
    for (int offset = 1; offset < lanes; offset *= 2) {
      const int other = __shfl_up_sync(~0u, before, offset, lanes);
      if (lane >= offset) before += other;
    }
    const int total = __shfl_sync(~0u, before, lanes - 1, lanes);
    before += filled - rows.length;
    if (!__any_sync(~0u, rows.length > short_row)) {  // each lane its own row of B
      for (int e = 0; e < rows.length; ++e) columns[before + e] = p.b.col_indices[rows.first + e];
      filled += total;
      continue;
    }
    std::int32_t found[at_once];
    int to[at_once];
    for_rows_of_b(
        rows, lanes, [&](int u, int j) { to[u] = __shfl_sync(~0u, before, j, lanes); },
        [&](int u, Offset place) { found[u] = p.b.col_indices[place]; },
        [&](int u, int e) { columns[to[u] + e] = found[u]; }, [] {});
    filled += total;
  }
  for (int s = filled + lane; s < places; s += lanes) columns[s] = no_column;
  __syncwarp();
  std::int32_t keys[each];
#pragma unroll
  for (int i = 0; i < each; ++i) keys[i] = columns[i * lanes + lane];
  __syncwarp();
  sort_in_team<lanes>(keys);
  std::int32_t previous = __shfl_up_sync(~0u, keys[each - 1], 1, lanes);
  if (lane == 0) previous = -1;
  unsigned first_of_column = 0;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    if (keys[i] != previous && keys[i] != no_column) first_of_column |= 1u << i;
    previous = keys[i];
  }
  int before = __popc(first_of_column);
  for (int offset = 1; offset < lanes; offset *= 2) {
    const int other = __shfl_up_sync(~0u, before, offset, lanes);
    if (lane >= offset) before += other;
  }
  const int total = __shfl_sync(~0u, before, lanes - 1, lanes);
  const std::int64_t begin = mine ? sink.begin(row) : 0;
  if constexpr (!std::is_same_v<Sink, CountUnion>) {
    before -= __popc(first_of_column);
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (first_of_column >> i & 1) columns[before++] = keys[i];
    __syncwarp();
    for (int s = lane; s < total; s += lanes) sink.entry(begin + s, columns[s], absent, absent);
  }
  if (mine && lane == 0) sink.finish(row, begin + total);
}

/// Sorts columns that a warp has in shared memory, up to 32 x each of them, and hands them to write(number, column).
template <int each, class Write>
__device__ void sort_and_write(const std::int32_t* columns, int count, Write&& write) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::int32_t keys[each];
#pragma unroll
  for (int i = 0; i < each; ++i) keys[i] = i * 32 + lane < count ? columns[i * 32 + lane] : no_column;
  sort_in_team<32>(keys);
#pragma unroll
  for (int i = 0; i < each; ++i)
    if (lane * each + i < count) write(lane * each + i, keys[i]);
}

/// Different columns of a row: a hash table, and a list of those that were put into it.
template <int most>
struct ColumnSet {
  static constexpr int slots = 2 * most;
  std::int32_t table[slots], list[most];
  int size;

  __device__ void clear() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int s = lane; s < slots; s += 32) table[s] = no_column;
    if (lane == 0) size = 0;
    __syncwarp();
  }
  /// No more than the other lanes come after one is too many, so the table never fills up.
  __device__ bool is_full() const { return *const_cast<const volatile int*>(&size) > most; }
  __device__ void put(std::int32_t col) {
    constexpr int shift = 32 - std::countr_zero(static_cast<unsigned>(slots));
    for (unsigned slot = static_cast<unsigned>(col) * 2654435769u >> shift;; slot = (slot + 1) % slots) {
      std::int32_t there = *const_cast<const volatile std::int32_t*>(table + slot);
      if (there == no_column) there = atomicCAS(table + slot, no_column, col);
      if (there == col) return;
      if (there != no_column) continue;
      if (const int at = atomicAdd(&size, 1); at < most) list[at] = col;
      return;
    }
  }
};

/// Whether a row's columns go into the set for (least, most] entries: one with more than `few_sorted` products that has
/// not been counted by a smaller one, or, when columns are listed, has been counted so.
template <class Offset, class Sink>
__device__ bool is_for_set(const ProductPattern<Offset>& p, const Sink& sink, std::int64_t row, int least, int most) {
  if (p.products[row] <= few_sorted) return false;
  if constexpr (!std::is_same_v<Sink, ListUnion<Offset>>) {
    return least == 0 || sink.counts[row] == retry;
  } else {
    if (p.windows.count > 0 && p.windows.starts[row] < p.windows.starts[row + 1]) return false;
    const std::int64_t known = sink.row_offsets[row + 1] - sink.row_offsets[row];
    return known > least && known <= most;
  }
}

/// Puts the columns of a row into a set, and hands them to the sink. By a warp; `bases` is room for 32.
template <int most, class Offset, class Sink>
__device__ void hash_row(const ProductPattern<Offset>& p, const Sink& sink, std::int64_t row, ColumnSet<most>& set,
                         Offset* bases) {
  constexpr bool counts = !std::is_same_v<Sink, ListUnion<Offset>>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (counts)
    if (p.products[row] > max_numbered) {
      if (lane == 0) sink.counts[row] = retry;
      return;
    }
  set.clear();
  const Offset end = p.a.row_offsets[row + 1];
  for (Offset k = p.a.row_offsets[row]; k < end && !set.is_full(); k += 32) {
    const RowsOfB<Offset> rows(p.a, p.b, k, end, lane);
    std::int32_t found[at_once];
    for_products(
        rows, bases, [&](int u, Offset place) { found[u] = p.b.col_indices[place]; },
        [&](int u) {
          if (!set.is_full()) set.put(found[u]);
        },
        [&] { return set.is_full(); });
    __syncwarp();
  }
  const int total = set.size;
  if (counts && total > most) {
    if constexpr (counts)
      if (lane == 0) sink.counts[row] = retry;
    return;
  }
  const std::int64_t begin = sink.begin(row);
  if constexpr (!std::is_same_v<Sink, CountUnion>) {
    const auto write = [&](int s, std::int32_t col) { sink.entry(begin + s, col, absent, absent); };
    if (total <= 32)
      sort_and_write<1>(set.list, total, write);
    else if (total <= 64)
      sort_and_write<2>(set.list, total, write);
    else if (total <= 128)
      sort_and_write<4>(set.list, total, write);
    if constexpr (most > few_held) {
      if (total > 256)
        sort_and_write<16>(set.list, total, write);
      else if (total > 128)
        sort_and_write<8>(set.list, total, write);
    }
  }
  if (lane == 0) sink.finish(row, begin + total);
}

// Threads: a block has a share of the rows of C, of which warps take those that are for a set of so many columns. Where
//   there are more than `most`, counts are `retry`.
// Bytes: as above. Races: slots are taken atomically; the columns are sorted then, so that they hang on no order. A row
//   is one warp's, whatever the order in which they are taken.
template <int most, class Offset, class Sink>
__global__ void __launch_bounds__(sort_threads, hash_blocks(most))
    hash_products_kernel(ProductPattern<Offset> p, int least, int share, Sink sink, Skip skip) {
  constexpr int warps = sort_threads / 32;
  __shared__ ColumnSet<most> sets[warps];
  __shared__ Offset bases[warps][32];
  __shared__ SharedRows<max_share> rows;
  if (skip.now()) return;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = std::int64_t{blockIdx.x} * share;
  rows.fill(first, min(first + share, std::int64_t{p.a.rows}),
            [&](std::int64_t row) { return is_for_set(p, sink, row, least, most); });
  for (int n = rows.take(1); n < rows.count; n = rows.take(1)) {
    hash_row(p, sink, rows.rows[n], sets[warp], bases[warp]);
    __syncwarp();
  }
}

/// Sorts in shared memory, by all threads of the block; `size` is a power of two. Ends with a barrier.
__device__ void sort_in_block(std::int32_t* keys, int size) {
  for (int run = 2; run <= size; run *= 2)
    for (int apart = run / 2; apart > 0; apart /= 2) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += static_cast<int>(blockDim.x)) {
        const int low = 2 * i - (i & (apart - 1)), high = low + apart;
        const std::int32_t one = keys[low], other = keys[high];
        if ((one > other) == ((low & run) == 0)) keys[low] = other, keys[high] = one;
      }
    }
  __syncthreads();
}

// Threads: a block has a share of the rows of C; its threads put the columns of one after the other, of those that no
//   warp has a set for, into one for `max_of_block` columns. Where there are more, counts stay `retry`, and the row has
//   windows.
// Bytes: as above. Races: as above; barriers between a row's steps.
template <class Offset, class Sink>
__global__ void __launch_bounds__(mark_threads)
    hash_long_rows_kernel(ProductPattern<Offset> p, int share, Sink sink, Skip skip) {
  constexpr bool counts = !std::is_same_v<Sink, ListUnion<Offset>>;
  using Set = ColumnSet<max_of_block>;
  extern __shared__ __align__(16) unsigned met[];  // a Set
  __shared__ SharedRowsOfB<mark_threads, 1, Offset> rows_of_b;
  __shared__ SharedRows<max_share> rows;
  if (skip.now()) return;
  Set& set = *reinterpret_cast<Set*>(met);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * share;
  rows.fill(first, min(first + share, std::int64_t{p.a.rows}), [&](std::int64_t row) {
    return p.products[row] <= max_tried && is_for_set(p, sink, row, ProductTuning::max_held, max_of_block);
  });
  for (int n = 0; n < rows.count; ++n) {
    const std::int32_t row = rows.rows[n];
    for (int s = thread; s < Set::slots; s += mark_threads) set.table[s] = no_column;
    if (thread == 0) set.size = 0;
    __syncthreads();
    std::int32_t found[at_once];
    for_entries_of_rows<at_once>(
        rows_of_b, p.a, p.b, p.a.row_offsets[row], p.a.row_offsets[row + 1], 0, p.b.cols,
        [&](int u, Offset, Offset place) { found[u] = p.b.col_indices[place]; },
        [&](int count) {
#pragma unroll
          for (int u = 0; u < at_once; ++u)
            if (u * mark_threads + thread < count && !set.is_full()) set.put(found[u]);
        });
    const int total = set.size;  // for_entries_of_rows() ends with a barrier
    const std::int64_t begin = sink.begin(row);
    if constexpr (!counts) {
      int size = 1;
      while (size < total) size *= 2;
      for (int s = total + thread; s < size; s += mark_threads) set.list[s] = no_column;
      sort_in_block(set.list, size);
      for (int s = thread; s < total; s += mark_threads) sink.entry(begin + s, set.list[s], absent, absent);
    }
    if (thread == 0 && (!counts || total <= max_of_block)) sink.finish(row, begin + total);
    __syncthreads();
  }
}

/// What becomes of the columns of a window.
struct CountWindow {
  std::int64_t* counts;

  constexpr std::int64_t begin(std::int32_t, std::int64_t) const { return 0; }
  constexpr void finish(std::int64_t window, int total) const { counts[window] = total; }
};
template <class Offset>
struct ListWindow {
  ListUnion<Offset> list;
  const std::int64_t *starts, *before_windows;

  constexpr std::int64_t begin(std::int32_t row, std::int64_t window) const {
    return list.begin(row) + before_windows[window] - before_windows[starts[row]];
  }
  constexpr void entry(std::int64_t at, std::int32_t col) const { list.entry(at, col, absent, absent); }
  constexpr void finish(std::int64_t, int) const {}
};

constexpr int window_words = ProductTuning::window / 32, words_a_thread = window_words / mark_threads;
static_assert(words_a_thread == 32);  // bits of a word say which of them hold columns
constexpr std::size_t window_bytes = (window_words + mark_threads) * sizeof(unsigned);

// Threads: a block a window of a row of C; its threads share the entries that rows of B have there; a bit for each
//   column says whether it was met.
// Bytes: entries of B once, its rows' ends once a window; where there are few windows, entries of B once each, which
//   spares a bisection of its rows.
// Races: bits are set atomically, in any order; each thread lists words of its own.
template <class Offset, class Use>
__global__ void __launch_bounds__(mark_threads) mark_products_kernel(ProductPattern<Offset> p, Use use, Skip skip) {
  using Scan = cub::BlockScan<int, mark_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  extern __shared__ __align__(16) unsigned met[];  // window_bytes
  __shared__ SharedRowsOfB<mark_threads, 1, Offset> rows;
  __shared__ typename Scan::TempStorage scan;
  if (skip.now()) return;
  // A thread lists words side by side: padded, so that neighbors read banks of their own.
  const auto padded = [](int word) { return word + word / words_a_thread; };
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t window = blockIdx.x;
  const std::int32_t row = p.windows.rows[window];
  const std::int64_t from = (window - p.windows.starts[row]) * ProductTuning::window;
  const bool whole = p.b.cols <= ProductTuning::max_read_whole * ProductTuning::window;
  for (int w = thread; w < static_cast<int>(window_bytes / sizeof(uint4)); w += mark_threads)
    reinterpret_cast<uint4*>(met)[w] = {};
  __syncthreads();
  std::int32_t found[mark_at_once];
  for_entries_of_rows<mark_at_once>(
      rows, p.a, p.b, p.a.row_offsets[row], p.a.row_offsets[row + 1], whole ? 0 : from,
      whole ? p.b.cols : from + ProductTuning::window,
      [&](int u, Offset, Offset place) { found[u] = p.b.col_indices[place]; },
      [&](int count) {
#pragma unroll
        for (int u = 0; u < mark_at_once; ++u)
          if (const std::int64_t bit = found[u] - from;
              u * mark_threads + thread < count && bit >= 0 && bit < ProductTuning::window)
            atomicOr(met + padded(static_cast<int>(bit / 32)), 1u << bit % 32);
      });
  __syncthreads();
  int count = 0, before = 0, total = 0;
  unsigned words = 0;  // of the thread's, those with columns: few of a row of some thousand
  for (int w = 0; w < words_a_thread; ++w)
    if (const unsigned bits = met[padded(thread * words_a_thread + w)]; bits != 0)
      words |= 1u << w, count += __popc(bits);
  Scan(scan).ExclusiveSum(count, before, total);
  std::int64_t to = use.begin(row, window) + before;
  if constexpr (!std::is_same_v<Use, CountWindow>)
    for (; words != 0; words &= words - 1) {
      const int w = thread * words_a_thread + __ffs(static_cast<int>(words)) - 1;
      for (unsigned left = met[padded(w)]; left != 0; left &= left - 1)
        use.entry(to++, static_cast<std::int32_t>(from + w * 32 + __ffs(static_cast<int>(left)) - 1));
    }
  if (thread == 0) use.finish(window, total);
}

template <int lanes, int each, class Offset, class Sink>
void sort_rows(const Cuda& cuda, const ProductPattern<Offset>& p, const Sink& sink) {
  sort_products_kernel<lanes, each>
      <<<static_cast<unsigned>(ceil_div(p.a.rows, sort_threads / lanes)), sort_threads, 0, cuda.stream>>>(p, sink,
                                                                                                          cuda.skip);
  check(cudaGetLastError());
}

template <int most, class Offset, class Sink>
void hash_rows(const Cuda& cuda, const ProductPattern<Offset>& p, int least, const Sink& sink) {
  if (p.max_products <= std::max(least, few_sorted)) return;
  constexpr auto kernel = hash_products_kernel<most, Offset, Sink>;
  const std::int64_t share =
      share_of_block(p.a.rows, sort_threads / 32, resident_blocks<kernel>(cuda, 0, sort_threads), max_share);
  kernel<<<static_cast<unsigned>(ceil_div(std::int64_t{p.a.rows}, share)), sort_threads, 0, cuda.stream>>>(
      p, least, static_cast<int>(share), sink, cuda.skip);
  check(cudaGetLastError());
}

template <class Offset, class Sink>
void hash_long_rows(const Cuda& cuda, const ProductPattern<Offset>& p, const Sink& sink) {
  if (p.max_products <= ProductTuning::max_held) return;
  constexpr auto kernel = hash_long_rows_kernel<Offset, Sink>;
  constexpr std::size_t shared = sizeof(ColumnSet<max_of_block>);
  const std::int64_t share =
      share_of_block(p.a.rows, 1, resident_blocks<kernel>(cuda, shared, mark_threads), max_share);
  kernel<<<static_cast<unsigned>(ceil_div(std::int64_t{p.a.rows}, share)), mark_threads, shared, cuda.stream>>>(
      p, static_cast<int>(share), sink, cuda.skip);
  check(cudaGetLastError());
}

template <class Offset, class Use>
void mark_windows(const Cuda& cuda, const ProductPattern<Offset>& p, const Use& use) {
  if (p.windows.count == 0) return;
  constexpr auto kernel = mark_products_kernel<Offset, Use>;
  resident_blocks<kernel>(cuda, window_bytes, mark_threads);  // allows so much shared memory
  kernel<<<static_cast<unsigned>(p.windows.count), mark_threads, window_bytes, cuda.stream>>>(p, use, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class Offset, class Sink>
void merge_products(const Cuda& cuda, const ProductPattern<Offset>& p, Sink sink) {
  if (p.a.rows == 0) return;
  if (p.merged_terms > 0) return merge_rows(cuda, p.a, p.b, p.merged_terms, MergedColumns<Sink>{sink});
  if constexpr (std::is_same_v<Sink, KeepUnion>) {  // one kind of team serves all rows
    if (p.max_products <= 4 * 4) return sort_rows<4, 4>(cuda, p, sink);
    if (p.max_products <= 8 * 4) return sort_rows<8, 4>(cuda, p, sink);
  }
  static_assert(few_sorted == 8 * 8);
  constexpr bool lists = std::is_same_v<Sink, ListUnion<Offset>>;
  if (!lists || p.lists_short_rows) {
    sort_rows<8, 8>(cuda, p, sink);
    hash_rows<few_held>(cuda, p, 0, sink);
  }
  const auto hash_longer_rows = [&](const auto& to) {
    hash_rows<ProductTuning::max_held>(cuda, p, few_held, to);
    hash_long_rows(cuda, p, to);
  };
  if constexpr (!std::is_same_v<Sink, KeepUnion>)
    hash_longer_rows(sink);
  else if (!sink.has_room(p.max_products))
    hash_longer_rows(CountUnion{sink.counts});
  else
    hash_rows<ProductTuning::max_held>(cuda, p, few_held, sink);
  if constexpr (lists) mark_windows(cuda, p, ListWindow<Offset>{sink, p.windows.starts, p.before_windows});
}

template <class Offset>
void count_windows(const Cuda& cuda, const ProductPattern<Offset>& p, std::int64_t* counts) {
  mark_windows(cuda, p, CountWindow{counts});
}

template class ProductPatternKernels<std::int32_t, Cuda>;
template class ProductPatternKernels<std::int64_t, Cuda>;
template class BlockPatternPasses<std::int32_t, Cuda>;
template class BlockPatternPasses<std::int64_t, Cuda>;
template <class Offset>
struct ProductWindowKernels {
  static constexpr auto list = instance<void(const Cuda&, const ProductPattern<Offset>&, std::int64_t*)>(count_windows);
};
template class ProductWindowKernels<std::int32_t>;
template class ProductWindowKernels<std::int64_t>;

}  // namespace krill::detail
