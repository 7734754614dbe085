#include <algorithm>
#include <bit>
#include <cub/block/block_scan.cuh>
#include <limits>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/products.hpp"

namespace krill::detail {
namespace {

constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max();
constexpr int sort_threads = 128, team_threads = 128, mark_threads = 256;
constexpr int at_once = 4;  ///< rows of B that are on their way at a time. Not varied.

/// Rows of B that entries [k, end) of a row of A name, one for each lane of a team.
template <class Offset>
struct RowsOfB {
  Offset first = 0;
  int length = 0;

  template <class T>
  __device__ RowsOfB(const CsrView<const NoValue, Offset>& a, const CsrView<T, Offset>& b, Offset k, Offset end,
                     int lane) {
    if (k + lane >= end) return;
    const std::int32_t row = a.col_indices[k + lane];
    first = b.row_offsets[row], length = static_cast<int>(b.row_offsets[row + 1] - first);
  }
};

/// The lanes of a team go along the rows of B, one after the other, the u-th of four of which is on its way:
/// prepare(u, j) for row j of the team's, by all lanes; fetch(u, place in B), then use(u, number in the row) for each
/// entry, by its lane; after_row(), by all. Every thread of the warp calls it.
template <class Offset, class Prepare, class Fetch, class Use, class AfterRow>
__device__ void for_rows_of_b(const RowsOfB<Offset>& mine, int lanes, Prepare&& prepare, Fetch&& fetch, Use&& use,
                              AfterRow&& after_row) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int most = static_cast<int>(__reduce_max_sync(~0u, mine.length > 0 ? lane + 1u : 0u));
  for (int j = 0; j < most; j += at_once) {
    Offset first[at_once];
    int length[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      first[u] = __shfl_sync(~0u, mine.first, j + u, lanes);
      length[u] = __shfl_sync(~0u, mine.length, j + u, lanes);
      prepare(u, j + u);
      if (lane < length[u]) fetch(u, first[u] + lane);
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      if (lane < length[u]) use(u, lane);
      for (int e = lane + lanes; e < length[u]; e += lanes) fetch(u, first[u] + e), use(u, e);
      after_row();
    }
  }
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
  __shared__ std::int32_t shared[teams * places];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  std::int32_t* const columns = shared + team * places;
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

// Threads: a block a window of a row of C, a warp 32 rows of B at a time; a bit for each column says whether it was
// met. Bytes: rows of B once a window. Races: bits are set atomically, in any order; each thread lists words of its
// own.
template <class Offset, class Use>
__global__ void __launch_bounds__(mark_threads) mark_products_kernel(ProductPattern<Offset> p, Use use, Skip skip) {
  using Scan = cub::BlockScan<int, mark_threads>;
  constexpr int words = ProductTuning::window / 32, words_a_thread = words / mark_threads;
  __shared__ unsigned met[words + words / words_a_thread];
  __shared__ typename Scan::TempStorage scan;
  if (skip.now()) return;
  // A thread lists words side by side: padded, so that neighbors read banks of their own.
  const auto padded = [](int word) { return word + word / words_a_thread; };
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const std::int64_t window = blockIdx.x;
  const std::int32_t row = row_of_entry(p.windows.starts, p.a.rows, window);
  const std::int64_t from = (window - p.windows.starts[row]) * ProductTuning::window;
  for (int w = thread; w < words; w += mark_threads) met[padded(w)] = 0;
  __syncthreads();
  const Offset end = p.a.row_offsets[row + 1];
  for (Offset k = p.a.row_offsets[row] + thread / 32 * 32; k < end; k += mark_threads) {
    const RowsOfB<Offset> rows(p.a, p.b, k, end, lane);
    std::int32_t found[at_once];
    for_rows_of_b(
        rows, 32, [](int, int) {}, [&](int u, Offset place) { found[u] = p.b.col_indices[place]; },
        [&](int u, int) {
          const std::int64_t bit = found[u] - from;
          if (bit >= 0 && bit < ProductTuning::window)
            atomicOr(met + padded(static_cast<int>(bit / 32)), 1u << bit % 32);
        },
        [] {});
  }
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

/// Which parts of C teams have: rows of more than `least` and at most `most` entries, or pieces of longer ones.
struct SumParts {
  int lanes;
  std::int64_t least, most;  ///< `most` is also what a team has room for
  RowItems pieces = {};

  bool in_pieces() const { return pieces.count > 0; }
  __host__ __device__ int teams() const { return team_threads / lanes; }
};

// Threads: a team has a part of a row of C, whose columns and sums lie in shared memory; lanes lie along a row of B at
// a
//   time, and its columns differ, so that no two lanes add to one sum.
// Bytes: C once; A and B as often as the caches miss, for pieces once each. Races: a barrier of the warp after each
// row.
template <class T, class Offset>
__global__ void __launch_bounds__(team_threads)
    sum_products_kernel(ScalarView<T> alpha, CsrView<const T, Offset> a, CsrView<const T, Offset> b, SumParts parts,
                        CsrView<const NoValue, Offset> c, T* values, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  const int lanes = parts.lanes, lane = static_cast<int>(threadIdx.x) % lanes, room = static_cast<int>(parts.most);
  const int team = static_cast<int>(threadIdx.x) / lanes;
  T* const sums = reinterpret_cast<T*>(memory) + team * room;
  std::int32_t* const columns =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<T*>(memory) + parts.teams() * room) + team * room;
  const std::int64_t part = std::int64_t{blockIdx.x} * parts.teams() + team;
  Offset k = 0, end = 0, first = 0;
  int count = 0;
  if (part < (parts.pieces.count > 0 ? parts.pieces.count : a.rows)) {
    std::int64_t row = part;
    if (parts.pieces.count > 0) {
      row = row_of_entry(parts.pieces.starts, a.rows, part);
      first = c.row_offsets[row] + static_cast<Offset>((part - parts.pieces.starts[row]) * room);
      count = static_cast<int>(min(static_cast<Offset>(room), c.row_offsets[row + 1] - first));
    } else if (const Offset length = c.row_offsets[row + 1] - c.row_offsets[row];
               length > parts.least && length <= parts.most) {
      first = c.row_offsets[row], count = static_cast<int>(length);
    }
    if (count > 0) k = a.row_offsets[row], end = a.row_offsets[row + 1];
  }
  if (!__any_sync(~0u, count > 0)) return;
  for (int s = lane; s < count; s += lanes) columns[s] = c.col_indices[first + s], sums[s] = T{};
  __syncwarp();
  const std::int32_t low = count > 0 ? columns[0] : no_column, high = count > 0 ? columns[count - 1] : -1;
  const CsrView<const NoValue, Offset> pattern{a.rows, a.cols, a.nnz, a.row_offsets, a.col_indices};
  for (; __any_sync(~0u, k < end); k += lanes) {
    const RowsOfB<Offset> rows(pattern, b, k, end, lane);
    std::int32_t found[at_once];
    T of_a[at_once], of_b[at_once];
    for_rows_of_b(
        rows, lanes, [&](int u, int j) { of_a[u] = k + j < end ? a.values[k + j] : T{}; },
        [&](int u, Offset place) { found[u] = b.col_indices[place], of_b[u] = b.values[place]; },
        [&](int u, int) {
          if (found[u] >= low && found[u] <= high) sums[lower_entry(columns, 0, count, found[u])] += of_a[u] * of_b[u];
        },
        [] { __syncwarp(); });
  }
  for (int s = lane; s < count; s += lanes) values[first + s] = alpha() * sums[s];
}

template <int lanes, int each, class Offset, class Sink>
void sort_rows(const Cuda& cuda, const ProductPattern<Offset>& p, std::int64_t least, const Sink& sink) {
  if (p.most_products <= least && least > 0) return;
  sort_products_kernel<lanes, each>
      <<<static_cast<unsigned>(ceil_div(p.a.rows, sort_threads / lanes)), sort_threads, 0, cuda.stream>>>(
          p, least, sink, cuda.skip);
  check(cudaGetLastError());
}

template <class Offset, class Use>
void mark_windows(const Cuda& cuda, const ProductPattern<Offset>& p, const Use& use) {
  if (p.windows.count == 0) return;
  mark_products_kernel<<<static_cast<unsigned>(p.windows.count), mark_threads, 0, cuda.stream>>>(p, use, cuda.skip);
  check(cudaGetLastError());
}

template <class T, class Offset>
void sum_parts(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
               const CsrView<const T, Offset>& b, const SumParts& parts, const CsrView<const NoValue, Offset>& c,
               T* values) {
  const std::size_t shared = static_cast<std::size_t>(parts.teams()) * static_cast<std::size_t>(parts.most) *
                             (sizeof(T) + sizeof(std::int32_t));
  resident_blocks<sum_products_kernel<T, Offset>>(cuda, shared, team_threads);  // allows so much shared memory
  const std::int64_t count = parts.in_pieces() ? parts.pieces.count : a.rows;
  sum_products_kernel<<<static_cast<unsigned>(ceil_div(count, parts.teams())), team_threads, shared, cuda.stream>>>(
      alpha, a, b, parts, c, values, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class Offset, class Sink>
void merge_products(const Cuda& cuda, const ProductPattern<Offset>& p, Sink sink) {
  if (p.a.rows == 0) return;
  sort_rows<8, 8>(cuda, p, -1, sink);
  sort_rows<32, 8>(cuda, p, 64, sink);
  sort_rows<32, 16>(cuda, p, 256, sink);
  static_assert(ProductTuning::most_sorted == 32 * 16);
  if constexpr (!std::is_same_v<Sink, CountUnion>)
    mark_windows(cuda, p, ListWindow<Offset>{sink, p.windows.starts, p.before_windows});
}

template <class Offset>
void count_windows(const Cuda& cuda, const ProductPattern<Offset>& p, std::int64_t* counts) {
  mark_windows(cuda, p, CountWindow{counts});
}

template <class T, class Offset>
void sum_products(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, const SumTeams& by, const CsrView<const NoValue, Offset>& c,
                  T* values) {
  if (a.rows == 0) return;
  const auto room = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(by.longest)));
  sum_parts(cuda, alpha, a, b, {by.lanes, 0, std::clamp<std::int64_t>(room, 8, ProductTuning::small)}, c, values);
  if (by.longest > ProductTuning::small)
    sum_parts(cuda, alpha, a, b,
              {std::max(by.lanes, 16), ProductTuning::small, std::min(room, ProductTuning::most_held)}, c, values);
  if (by.pieces.count > 0) sum_parts(cuda, alpha, a, b, {32, 0, ProductTuning::piece, by.pieces}, c, values);
}

template class ProductPatternKernels<std::int32_t, Cuda>;
template class ProductPatternKernels<std::int64_t, Cuda>;
template <class Offset>
struct WindowKernels {
  static constexpr auto list = instance<void(const Cuda&, const ProductPattern<Offset>&, std::int64_t*)>(count_windows);
};
template class WindowKernels<std::int32_t>;
template class WindowKernels<std::int64_t>;
KRILL_INSTANTIATE_WITH_OFFSETS(ProductSumKernels, Cuda);

}  // namespace krill::detail
