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
constexpr int at_once = 4;    ///< rows of B that are on their way at a time. Not varied.
constexpr int short_row = 2;  ///< entries of a row of B that one lane lists by itself. Not varied.

/// Rows of B that entries [k, end) of a row of A name, one for each lane of a team.
template <class Offset>
struct RowsOfB {
  Offset first = 0;
  int length = 0;

  template <class T, class V>
  __device__ RowsOfB(const CsrView<T, Offset>& a, const CsrView<V, Offset>& b, Offset k, Offset end, int lane) {
    if (k + lane >= end) return;
    const std::int32_t row = a.col_indices[k + lane];
    first = b.row_offsets[row], length = static_cast<int>(b.row_offsets[row + 1] - first);
  }
  /// Keeps entries of columns [low, high].
  __device__ void restrict(const std::int32_t* columns, std::int32_t low, std::int32_t high) {
    const Offset end = first + length;
    first = lower_entry(columns, first, end, low);
    length = static_cast<int>(lower_entry(columns, first, end, std::int64_t{high} + 1) - first);
  }
};

/// The lanes of a team go along the rows of B, one after the other, the u-th of four of which is on its way:
/// prepare(u, j) for row j of the team's, by all lanes; fetch(u, place in B), then use(u, number in the row) for each
/// entry, by its lane; after_row(), by all. Every thread of the warp calls it.
template <class Offset, class Prepare, class Fetch, class Use, class AfterRow>
__device__ void for_rows_of_b(const RowsOfB<Offset>& mine, int lanes, Prepare&& prepare, Fetch&& fetch, Use&& use,
                              AfterRow&& after_row) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  unsigned busy = __ballot_sync(~0u, mine.length > 0);  // bit j: row j of some team has entries
  for (int other = 16; other >= lanes; other /= 2) busy |= busy >> other;
  for (int j = 0; j < lanes && busy >> j != 0; j += at_once) {
    if ((busy >> j & (1u << at_once) - 1) == 0) continue;
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

// Threads: a warp a row of C with more than `max_sorted` products, whose columns it puts into a hash table; where they
//   are more than the table is for, CountUnion gets -1, and the row has windows.
// Bytes: as above. Races: slots are taken atomically; what the table holds in the end hangs on no order.
template <class Offset, class Sink>
__global__ void __launch_bounds__(sort_threads) hash_products_kernel(ProductPattern<Offset> p, Sink sink, Skip skip) {
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
        rows, 32, [](int, int) {}, [&](int u, Offset place) { found[u] = p.b.col_indices[place]; },
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
  std::int64_t least, most;  ///< `most`, a power of two, is also what a team has room for
  RowItems pieces = {};
  bool masked = false;
};

// What teams make of the products that an entry of C gets: start(at), then add() for each product, then finish(). What
// is read of A and B is on its way before.
template <class T, class Offset>
struct AddProducts {
  using Slot = T;
  using OfA = T;
  using OfB = T;
  ScalarView<T> alpha;
  const T *a, *b;
  T* values;

  __device__ T start(std::int64_t) const { return T{}; }
  __device__ T of_a(Offset k) const { return a[k]; }
  __device__ T of_b(Offset e) const { return b[e]; }
  __device__ void add(T& sum, T first, T second) const { sum += first * second; }
  __device__ void finish(std::int64_t at, T sum) const { values[at] = alpha() * sum; }
};
template <class Offset>
struct CountEach {
  using Slot = Offset;
  using OfA = NoValue;
  using OfB = NoValue;
  Offset* counts;

  __device__ Offset start(std::int64_t) const { return 0; }
  __device__ NoValue of_a(Offset) const { return {}; }
  __device__ NoValue of_b(Offset) const { return {}; }
  __device__ void add(Offset& count, NoValue, NoValue) const { ++count; }
  __device__ void finish(std::int64_t at, Offset count) const { counts[at] = count; }
};
template <class Offset>
struct ListEach {
  using Slot = Offset;  // the next place in the list
  using OfA = Offset;
  using OfB = Offset;
  const Offset* starts;
  ProductPair* list;

  __device__ Offset start(std::int64_t at) const { return starts[at]; }
  __device__ Offset of_a(Offset k) const { return k; }
  __device__ Offset of_b(Offset e) const { return e; }
  __device__ void add(Offset& next, Offset k, Offset e) const {
    list[next++] = {static_cast<std::int32_t>(k), static_cast<std::int32_t>(e)};
  }
  __device__ void finish(std::int64_t, Offset) const {}
};

// Threads: a team has a part of a row of C, whose columns and sums (or what `use` has in their place) lie in shared
//   memory; lanes lie along a row of B at a time, and its columns differ, so that no two lanes add to one sum.
// Bytes: C once; A and B as often as the caches miss, for pieces once each. Races: a barrier of the warp after each
//   row.
template <int lanes, class V, class Offset, class Use>
__global__ void __launch_bounds__(team_threads)
    each_product_kernel(CsrView<V, Offset> a, CsrView<V, Offset> b, SumParts parts, CsrView<const NoValue, Offset> c,
                        Use use, Skip skip) {
  using Slot = typename Use::Slot;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  constexpr int teams = team_threads / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  const int room = static_cast<int>(parts.most);
  Slot* const slots = reinterpret_cast<Slot*>(memory) + team * room;
  std::int32_t* const columns =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<Slot*>(memory) + teams * room) + team * room;
  const std::int64_t part = std::int64_t{blockIdx.x} * teams + team;
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
  for (int s = lane; s < room; s += lanes) {
    columns[s] = s < count ? c.col_indices[first + s] : no_column;
    slots[s] = s < count ? use.start(first + s) : Slot{};
  }
  __syncwarp();
  const auto place_of = [&](std::int32_t col) {  // room is a power of two
    int place = 0;
    for (int half = room / 2; half > 0; half /= 2)
      if (columns[place + half] <= col) place += half;
    return place;
  };
  for (; __any_sync(~0u, k < end); k += lanes) {
    RowsOfB<Offset> rows(a, b, k, end, lane);
    if (parts.pieces.count > 0) rows.restrict(b.col_indices, columns[0], columns[count - 1]);
    std::int32_t found[at_once];
    typename Use::OfA of_a[at_once];
    typename Use::OfB of_b[at_once];
    for_rows_of_b(
        rows, lanes,
        [&](int u, int j) {
          if (k + j < end) of_a[u] = use.of_a(k + j);
        },
        [&](int u, Offset place) { found[u] = b.col_indices[place], of_b[u] = use.of_b(place); },
        [&](int u, int) {
          const int place = place_of(found[u]);
          if (!parts.masked || columns[place] == found[u]) use.add(slots[place], of_a[u], of_b[u]);
        },
        [] { __syncwarp(); });
  }
  for (int s = lane; s < count; s += lanes) use.finish(first + s, slots[s]);
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
  mark_products_kernel<<<static_cast<unsigned>(p.windows.count), mark_threads, 0, cuda.stream>>>(p, use, cuda.skip);
  check(cudaGetLastError());
}

template <int lanes, class V, class Offset, class Use>
void use_parts(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumParts& parts,
               const CsrView<const NoValue, Offset>& c, const Use& use) {
  constexpr int teams = team_threads / lanes;
  constexpr auto kernel = each_product_kernel<lanes, V, Offset, Use>;
  const std::size_t shared =
      teams * static_cast<std::size_t>(parts.most) * (sizeof(typename Use::Slot) + sizeof(std::int32_t));
  resident_blocks<kernel>(cuda, shared, team_threads);  // allows so much shared memory
  const std::int64_t count = parts.pieces.count > 0 ? parts.pieces.count : a.rows;
  kernel<<<static_cast<unsigned>(ceil_div(count, std::int64_t{teams})), team_threads, shared, cuda.stream>>>(
      a, b, parts, c, use, cuda.skip);
  check(cudaGetLastError());
}

/// All products, by teams whose lanes are as many as rows of B have use for.
template <class V, class Offset, class Use>
void use_products(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumTeams& by,
                  const CsrView<const NoValue, Offset>& c, const Use& use) {
  if (a.rows == 0) return;
  const auto room = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(by.longest)));
  const SumParts small{0, std::clamp<std::int64_t>(room, 8, ProductTuning::small), {}, by.masked},
      large{ProductTuning::small, std::min(room, ProductTuning::max_held), {}, by.masked},
      pieces{0, ProductTuning::piece, by.pieces, by.masked};
  const auto with = [&](auto lanes, const SumParts& parts) { use_parts<lanes.value>(cuda, a, b, parts, c, use); };
  constexpr std::integral_constant<int, 4> four{};
  constexpr std::integral_constant<int, 8> eight{};
  constexpr std::integral_constant<int, 16> sixteen{};
  constexpr std::integral_constant<int, 32> warp{};
  by.lanes == 4    ? with(four, small)
  : by.lanes == 8  ? with(eight, small)
  : by.lanes == 16 ? with(sixteen, small)
                   : with(warp, small);
  if (by.longest > ProductTuning::small) by.lanes == 32 ? with(warp, large) : with(sixteen, large);
  if (by.pieces.count > 0) with(warp, pieces);
}

}  // namespace

template <class Offset, class Sink>
void merge_products(const Cuda& cuda, const ProductPattern<Offset>& p, Sink sink) {
  if (p.a.rows == 0) return;
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
                             cuda.stream>>>(p, sink, cuda.skip);
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

template <class T, class Offset>
void sum_products(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, const SumTeams& by, const CsrView<const NoValue, Offset>& c,
                  T* values) {
  use_products(cuda, a, b, by, c, AddProducts<T, Offset>{alpha, a.values, b.values, values});
}

template <class Offset>
void count_products(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                    const SumTeams& by, const CsrView<const NoValue, Offset>& c, Offset* counts) {
  use_products(cuda, a, b, by, c, CountEach<Offset>{counts});
}

template <class Offset>
void list_products(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                   const SumTeams& by, const CsrView<const NoValue, Offset>& c, const Offset* starts,
                   ProductPair* list) {
  use_products(cuda, a, b, by, c, ListEach<Offset>{starts, list});
}

template class ProductPatternKernels<std::int32_t, Cuda>;
template class ProductPatternKernels<std::int64_t, Cuda>;
template <class Offset>
struct ProductCudaKernels {
  using Pattern = CsrView<const NoValue, Offset>;
  static constexpr std::tuple list{
      instance<void(const Cuda&, const ProductPattern<Offset>&, std::int64_t*)>(count_windows),
      instance<void(const Cuda&, const Pattern&, const Pattern&, const SumTeams&, const Pattern&, Offset*)>(
          count_products),
      instance<void(const Cuda&, const Pattern&, const Pattern&, const SumTeams&, const Pattern&, const Offset*,
                    ProductPair*)>(list_products)};
};
template class ProductCudaKernels<std::int32_t>;
template class ProductCudaKernels<std::int64_t>;
KRILL_INSTANTIATE_WITH_OFFSETS(ProductSumKernels, Cuda);

}  // namespace krill::detail
