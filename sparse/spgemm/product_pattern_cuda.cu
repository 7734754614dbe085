#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/merge_rows.cuh"
#include "sparse/spgemm/rows_of_b.cuh"

namespace krill::detail {
namespace {

constexpr int sort_threads = 128, mark_threads = 512;
constexpr int short_row = 2;  ///< entries of a row of B that one lane lists by itself. Not varied.

// Threads: a few lanes a row of A, then a warp each long one of its rows, grid-stride. Whole warps stay together.
// Bytes: A once, two offsets of B for each of its entries. Races: a row's first lane alone writes; the sum as in
//   grid_sum.
template <class Offset>
__global__ void __launch_bounds__(sum_threads)
    measure_products_kernel(CsrView<const NoValue, Offset> a, const Offset* b_offsets, std::int64_t* products,
                            ProductTotals* totals, Skip skip, GridScratch<ProductTotals> scratch) {
  constexpr int lanes = ProductTuning::lanes_of_a, rows_a_block = sum_threads / lanes;
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const auto count_some = [&](Offset k, Offset end, int step) {
    std::int64_t count = 0;
#pragma unroll 4  // not varied
    for (; k < end; k += step) {
      const std::int32_t named = a.col_indices[k];
      count += b_offsets[named + 1] - b_offsets[named];
    }
    return count;
  };
  ProductTotals sum{};
  for (std::int64_t first = std::int64_t{blockIdx.x} * rows_a_block; first < a.rows;
       first += std::int64_t{gridDim.x} * rows_a_block) {
    const std::int64_t row = first + threadIdx.x / lanes;
    const bool mine = row < a.rows;
    const Offset begin = mine ? a.row_offsets[row] : 0, end = mine ? a.row_offsets[row + 1] : 0;
    const bool is_long = end - begin > ProductTuning::max_of_a;
    std::int64_t count = lanes_sum(is_long ? 0 : count_some(begin + lane, end, lanes), lanes);
    for (unsigned left = __ballot_sync(~0u, is_long && lane == 0); left != 0; left &= left - 1) {
      const int source = __ffs(static_cast<int>(left)) - 1, in_warp = static_cast<int>(threadIdx.x) % 32;
      const Offset from = __shfl_sync(~0u, begin, source), to = __shfl_sync(~0u, end, source);
      const std::int64_t whole = lanes_sum(count_some(from + in_warp, to, 32), 32), found = shuffle_from(whole, 0);
      if (in_warp == source) count = found;
    }
    if (!mine || lane > 0) continue;
    products[row] = count;
    sum += ProductTotals{{count}, count, {static_cast<std::int64_t>(end - begin)}};
  }
  grid_sum(sum, scratch, [&](const ProductTotals& all) { *totals = all; });
}

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

// Threads: a team a row of C with more than `least` and at most lanes x each products, whose columns it sorts in its
//   registers. Warps stay together.
// Bytes: rows of B as often as the caches miss, 4 an entry; what the sink writes. Races: none, a row is one team's.
template <int lanes, int each, class Offset, class Sink>
__global__ void __launch_bounds__(sort_threads)
    sort_products_kernel(ProductPattern<Offset> p, std::int64_t least, Sink sink, Skip skip) {
  constexpr int teams = sort_threads / lanes, places = lanes * each;
  constexpr int apart = places + lanes;  // teams of a warp have banks of their own
  __shared__ std::int32_t shared[teams * apart];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  std::int32_t* const columns = shared + team * apart;
  const std::int64_t row = std::int64_t{blockIdx.x} * teams + team;
  const bool mine = row < p.a.rows && p.products[row] > least && p.products[row] <= places;
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

/// Sorts the columns in a warp's shared memory.
template <int each>
__device__ void sort_shared(std::int32_t* columns, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::int32_t keys[each];
#pragma unroll
  for (int i = 0; i < each; ++i) keys[i] = i * 32 + lane < count ? columns[i * 32 + lane] : no_column;
  __syncwarp();
  sort_in_team<32>(keys);
#pragma unroll
  for (int i = 0; i < each; ++i) columns[lane * each + i] = keys[i];
  __syncwarp();
}

// Threads: a warp a row of C with more than `max_sorted` products, whose columns it puts into a hash table, `along` of
//   its lanes along a row of B; where they are more than the table is for, CountUnion gets -1, and the row has windows.
// Bytes: as above. Races: slots are taken atomically; what the table holds in the end hangs on no order.
template <class Offset, class Sink>
__global__ void __launch_bounds__(sort_threads)
    hash_products_kernel(ProductPattern<Offset> p, int along, Sink sink, Skip skip) {
  constexpr int most = static_cast<int>(ProductTuning::max_held), slots = 2 * most, warps = sort_threads / 32;
  constexpr bool counts = std::is_same_v<Sink, CountUnion>;
  __shared__ std::int32_t tables[warps][slots];
  __shared__ int sizes[warps];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t row = std::int64_t{blockIdx.x} * warps + warp;
  if (row >= p.a.rows || p.products[row] <= ProductTuning::max_sorted) return;
  if (!counts && p.windows.count > 0 && p.windows.starts[row] < p.windows.starts[row + 1]) return;
  std::int32_t* const table = tables[warp];
  volatile int* const size = sizes + warp;
  for (int s = lane; s < slots; s += 32) table[s] = no_column;
  if (lane == 0) *size = 0;
  __syncwarp();
  const Offset end = p.a.row_offsets[row + 1];
  for (Offset k = p.a.row_offsets[row]; k < end && *size <= most; k += 32) {
    const RowsOfB<Offset> rows(p.a, p.b, k, end, lane);
    std::int32_t found[at_once];
    for_rows_of_b(
        rows, along, [](int, int) {}, [&](int u, Offset place) { found[u] = p.b.col_indices[place]; },
        [&](int u, int) {
          if (*size > most) return;  // no more than the other lanes come after that, so the table never fills up
          for (unsigned slot = static_cast<unsigned>(found[u]) * 2654435769u / (~0u / slots + 1);; ++slot) {
            const std::int32_t there = atomicCAS(table + slot % slots, no_column, found[u]);
            if (there == no_column) atomicAdd(sizes + warp, 1);
            if (there == no_column || there == found[u]) break;
          }
        },
        [] { __syncwarp(); });
    __syncwarp();
  }
  const int total = *size;
  if constexpr (counts) {
    if (lane == 0) sink.finish(row, total <= most ? total : -1);
  } else {
    int filled = 0;
    for (int s = lane; s < slots; s += 32) {  // columns move towards the front, where all has been read
      const std::int32_t col = table[s];
      const unsigned taken = __ballot_sync(~0u, col != no_column);
      if (col != no_column) table[filled + __popc(taken & (1u << lane) - 1)] = col;
      filled += __popc(taken);
      __syncwarp();
    }
    if (total <= 128)
      sort_shared<4>(table, total);
    else if (total <= 256)
      sort_shared<8>(table, total);
    else
      sort_shared<16>(table, total);
    const std::int64_t begin = sink.begin(row);
    for (int s = lane; s < total; s += 32) sink.entry(begin + s, table[s], absent, absent);
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
constexpr std::size_t window_bytes = (window_words + mark_threads) * sizeof(unsigned);

// Threads: a block a window of a row of C; its threads share the entries that rows of B have there; a bit for each
//   column says whether it was met.
// Bytes: entries of B once, its rows' ends once a window; where there are few windows, entries of B once each, which
//   spares a bisection of its rows.
// Races: bits are set atomically, in any order; each thread lists words of its own.
template <class Offset, class Use>
__global__ void __launch_bounds__(mark_threads) mark_products_kernel(ProductPattern<Offset> p, Use use, Skip skip) {
  using Scan = cub::BlockScan<int, mark_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  extern __shared__ unsigned met[];  // window_bytes
  __shared__ SharedRowsOfB<mark_threads, Offset> rows;
  __shared__ typename Scan::TempStorage scan;
  if (skip.now()) return;
  // A thread lists words side by side: padded, so that neighbors read banks of their own.
  const auto padded = [](int word) { return word + word / words_a_thread; };
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t window = blockIdx.x;
  const std::int32_t row = p.windows.rows[window];
  const std::int64_t from = (window - p.windows.starts[row]) * ProductTuning::window;
  const bool whole = p.b.cols <= ProductTuning::max_read_whole * ProductTuning::window;
  for (int w = thread; w < window_words; w += mark_threads) met[padded(w)] = 0;
  __syncthreads();
  std::int32_t found[at_once];
  for_entries_of_rows<mark_threads, at_once>(
      rows, p.a, p.b, p.a.row_offsets[row], p.a.row_offsets[row + 1], whole ? 0 : from,
      whole ? p.b.cols : from + ProductTuning::window,
      [&](int u, Offset, Offset place) { found[u] = p.b.col_indices[place]; },
      [&](int count) {
#pragma unroll
        for (int u = 0; u < at_once; ++u)
          if (const std::int64_t bit = found[u] - from;
              u * mark_threads + thread < count && bit >= 0 && bit < ProductTuning::window)
            atomicOr(met + padded(static_cast<int>(bit / 32)), 1u << bit % 32);
      });
  __syncthreads();
  int count = 0, before = 0, total = 0;
  for (int w = thread * words_a_thread; w < (thread + 1) * words_a_thread; ++w) count += __popc(met[padded(w)]);
  Scan(scan).ExclusiveSum(count, before, total);
  std::int64_t to = use.begin(row, window) + before;
  if constexpr (!std::is_same_v<Use, CountWindow>)
    for (int w = thread * words_a_thread; w < (thread + 1) * words_a_thread; ++w)
      for (unsigned left = met[padded(w)]; left != 0; left &= left - 1)
        use.entry(to++, static_cast<std::int32_t>(from + w * 32 + __ffs(static_cast<int>(left)) - 1));
  if (thread == 0) use.finish(window, total);
}

template <int lanes, int each, class Offset, class Sink>
void sort_rows(const Cuda& cuda, const ProductPattern<Offset>& p, std::int64_t least, const Sink& sink) {
  if (p.max_products <= least && least > 0) return;
  sort_products_kernel<lanes, each>
      <<<static_cast<unsigned>(ceil_div(p.a.rows, sort_threads / lanes)), sort_threads, 0, cuda.stream>>>(
          p, least, sink, cuda.skip);
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

template <class Offset>
void measure_products(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const Offset* b_offsets,
                      std::int64_t* products, ProductTotals* totals) {
  const int blocks = grid_blocks(cuda, a.rows, sum_threads / ProductTuning::lanes_of_a);
  Frame frame(cuda);
  measure_products_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(a, b_offsets, products, totals, cuda.skip,
                                                                   grid_scratch<ProductTotals>(cuda, frame, blocks));
  check(cudaGetLastError());
}

template <class Offset, class Sink>
void merge_products(const Cuda& cuda, const ProductPattern<Offset>& p, Sink sink) {
  if (p.a.rows == 0) return;
  if (p.merged_terms > 0) return merge_rows(cuda, p.a, p.b, p.merged_terms, MergedColumns<Sink>{sink});
  static_assert(ProductTuning::max_sorted == 32 * 8);
  if constexpr (std::is_same_v<Sink, KeepUnion>) {  // no row is too long, and one kind of team serves all
    p.max_products <= 4 * 4   ? sort_rows<4, 4>(cuda, p, -1, sink)
    : p.max_products <= 8 * 4 ? sort_rows<8, 4>(cuda, p, -1, sink)
    : p.max_products <= 8 * 8 ? sort_rows<8, 8>(cuda, p, -1, sink)
                              : sort_rows<32, 8>(cuda, p, -1, sink);
  } else {
    sort_rows<8, 8>(cuda, p, -1, sink);
    sort_rows<32, 8>(cuda, p, 8 * 8, sink);
    if (p.max_products > ProductTuning::max_sorted) {
      hash_products_kernel<<<static_cast<unsigned>(ceil_div(p.a.rows, sort_threads / 32)), sort_threads, 0,
                             cuda.stream>>>(p, lanes_along(p.b.nnz, p.b.rows), sink, cuda.skip);
      check(cudaGetLastError());
    }
    if constexpr (!std::is_same_v<Sink, CountUnion>)
      mark_windows(cuda, p, ListWindow<Offset>{sink, p.windows.starts, p.before_windows});
  }
}

template <class Offset>
void count_windows(const Cuda& cuda, const ProductPattern<Offset>& p, std::int64_t* counts) {
  mark_windows(cuda, p, CountWindow{counts});
}

template class ProductPatternKernels<std::int32_t, Cuda>;
template class ProductPatternKernels<std::int64_t, Cuda>;
template <class Offset>
struct ProductWindowKernels {
  static constexpr auto list = instance<void(const Cuda&, const ProductPattern<Offset>&, std::int64_t*)>(count_windows);
};
template class ProductWindowKernels<std::int32_t>;
template class ProductWindowKernels<std::int64_t>;

}  // namespace krill::detail
