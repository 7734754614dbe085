#include <algorithm>

#include "krill/sparse/core/bulk_copy.cuh"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/pass_cuda.cuh"
#include "krill/sparse/spmv/csr_parts.hpp"
#include "krill/sparse/spmv/product.hpp"

namespace krill {
namespace {

constexpr int threads = sum_threads;
constexpr int row_block = csr_row_block;
static_assert(row_block == threads);

/// Matrices whose rows are shorter than this in the mean are for the kernel with copies in the background.
constexpr int short_mean = 10;

/// Piece i. Where every row block is one, the list says nothing new and is not read.
__device__ CsrItem item_of(const CsrParts& parts, std::int32_t rows, std::int32_t count, std::int32_t i) {
  if (parts.items && count != (rows - 1) / row_block + 1) return parts.items[i];
  return {i, 0, 1, 0};
}
__device__ std::int32_t count_of(const CsrParts& parts, std::int32_t rows) {
  return parts.items ? static_cast<std::int32_t>(*parts.count) : (rows - 1) / row_block + 1;
}

/// Entries of a piece; those of a part but the last are a multiple of 4.
template <class Offset>
struct Range {
  Offset begin, end;
};
template <class T, class Offset>
__device__ Range<Offset> range_of(const CsrView<const T, Offset>& a, const CsrParts& parts, const CsrItem& item) {
  const Offset base = static_cast<Offset>(a.base);
  const std::int64_t first = std::int64_t{item.row_block} * row_block, past = first + row_block;
  Range<Offset> range{a.row_offsets[first] - base, a.row_offsets[past < a.rows ? past : a.rows] - base};
  if (item.parts == 1) return range;
  const Offset from = range.begin / 4 * 4 + Offset(item.part) * parts.entries;
  range.begin = max(range.begin, from);
  if (range.end - from > parts.entries) range.end = from + parts.entries;
  return range;
}

/// Leaves the sums of a part, and adds those of all parts where this block came last; in the order of the parts.
template <class T>
__device__ bool gather_parts(const CsrParts& parts, const CsrItem& item, T& sum) {
  T* sums = static_cast<T*>(parts.sums) + (std::int64_t{item.slot} - item.part) * row_block;
  sums[std::int64_t{item.part} * row_block + threadIdx.x] = sum;
  __syncthreads();
  bool is_last = false;
  if (threadIdx.x == 0) {
    __threadfence();  // the whole block's sums, which the barrier brought before this, come before the ticket
    is_last = atomicAdd(&parts.arrived[item.row_block], 1u) + 1 == unsigned(item.parts);
    __threadfence();
  }
  if (!__syncthreads_or(is_last)) return false;
  if (threadIdx.x == 0) parts.arrived[item.row_block] = 0;
  sum = T{};
  for (int part = 0; part < item.parts; ++part)
    sum += load_through(sums + std::int64_t{part} * row_block + threadIdx.x);
  return true;
}

// ---- Short rows: copies in the background.

constexpr int stages = 2;
constexpr int in_flight = 4;      // reads of x in flight a thread
constexpr int long_segment = 32;  // from here on a warp goes along what a row has in a stage

/// Entries that a stage holds: a little more than 256 rows of 7 have. Measured on an H200 with doubles: 5 blocks of two
/// stages a multiprocessor are faster than 8 of one, or 3 of three.
template <class T>
constexpr int stage_entries = sizeof(T) > 8 ? 1024 : 1804;
template <class T>
constexpr int short_blocks = sizeof(T) > 8 ? 4 : 5;  ///< on a multiprocessor

/// What a stage is filled with: `count` entries from `begin` on, a multiple of 4, of piece `item`; no item, no work.
template <class Offset>
struct Step {
  CsrItem item;
  Offset begin;
  std::int32_t count;
  bool last;  ///< of its piece
};

template <class T, class Offset>
struct alignas(128) ShortMemory {
  T values[stages][stage_entries<T>];
  std::int32_t columns[stages][stage_entries<T>];
  std::uint64_t full[stages];  // barriers of the copies
  Step<Offset> steps[3];       // this one, the next one, and the last one, which late threads may still look at
  // what the thread that starts copies keeps: the piece, where it ends, how long its steps are, and how many there are
  CsrItem item;
  Offset at, end;
  std::int32_t next_piece, step, pieces;
};

/// How many of `count` entries a copy brings: it takes 16 bytes at a time, aligned, and shall not reach beyond the
/// arrays.
template <class T, class Offset>
__device__ int bulk_of(const CsrView<const T, Offset>& a, Offset begin, int count) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(a.values) | reinterpret_cast<std::uintptr_t>(a.col_indices);
  if (!has_bulk_copies() || addresses % 16 != 0) return 0;
  const int rounded = (count + 3) / 4 * 4;
  return rounded <= a.nnz - static_cast<std::int64_t>(begin) ? rounded : count / 4 * 4;
}

/// Finds the next step and starts the copy of its entries. One thread; `ahead` is the range of the next piece, asked
/// for a piece before.
template <class T, class Offset>
__device__ void start_step(const CsrView<const T, Offset>& a, const CsrParts& parts, ShortMemory<T, Offset>& m,
                           int slot, int stage, Range<Offset>& ahead) {
  if (m.at >= m.end) {
    m.item = {-1, 0, 1, 0};
    if (m.next_piece < m.pieces) {
      m.item = item_of(parts, a.rows, m.pieces, m.next_piece);
      const Range<Offset> range = ahead;
      m.at = range.begin / 4 * 4, m.end = range.end;
      // equal steps: whole stages and a small rest would waste the last one
      const auto entries = static_cast<std::int64_t>(m.end - m.at);
      const std::int64_t steps = (entries + (stage_entries<T> - 1)) / stage_entries<T>;
      m.step = steps > 1 ? static_cast<std::int32_t>(((entries + steps - 1) / steps + 3) / 4 * 4) : stage_entries<T>;
      m.next_piece += static_cast<std::int32_t>(gridDim.x);
      if (m.next_piece < m.pieces) ahead = range_of(a, parts, item_of(parts, a.rows, m.pieces, m.next_piece));
    }
  }
  const auto count = static_cast<int>(min(max(m.end - m.at, Offset(0)), Offset(m.step)));
  m.steps[slot] = {m.item, m.at, count, m.end - m.at <= m.step};
  const int bulk = bulk_of(a, m.at, count);
  const std::uint32_t value_bytes = bulk * sizeof(T), column_bytes = bulk * sizeof(std::int32_t);
  expect_bytes(m.full[stage], value_bytes + column_bytes);
  if (bulk) {
    copy_async(m.values[stage], a.values + m.at, value_bytes, m.full[stage]);
    copy_async(m.columns[stage], a.col_indices + m.at, column_bytes, m.full[stage]);
  }
  m.at += count;
}

/// The sum of entries from .. to of a stage, a thread on its own.
template <class T>
__device__ T sum_alone(const T* values, const std::int32_t* columns, std::int32_t base, const T* x, int from, int to) {
  T sum{};
  for (int k = from; k < to; k += in_flight) {
    T read[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (k + u < to) read[u] = x[columns[k + u] - base];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (k + u < to) sum += values[k + u] * read[u];
  }
  return sum;
}

/// The same by a whole warp, for each of its lanes in turn whose segment is long; what the lane's row has.
template <class T>
__device__ T sum_long(const T* values, const std::int32_t* columns, std::int32_t base, const T* x, int from, int to) {
  T mine{};
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (unsigned waiting = __ballot_sync(~0u, to - from > long_segment); waiting; waiting &= waiting - 1) {
    const int owner = __ffs(static_cast<int>(waiting)) - 1;
    const int begin = __shfl_sync(~0u, from, owner), end = __shfl_sync(~0u, to, owner);
    T sum{};
#pragma unroll 4
    for (int k = begin + lane; k < end; k += 32) sum += values[k] * x[columns[k] - base];
    sum = shuffle_from(lanes_sum(sum, 32), 0);
    if (lane == owner) mine = sum;
  }
  return mine;
}

// Threads: a block takes 256 rows at a time, or a part of their entries where those are many; thread t adds up row t,
// but
//   where a row is long a warp goes along it. Copies in the background bring the entries into shared memory, a stage
//   ahead, so that threads read x in the order of rows: neighbors read neighboring entries.
// Bytes: every entry, offset and y once, x as often as the caches miss.
// Races: a stage is filled again only after the barrier that ends a step; a copy's bytes are read after its own
// barrier,
//   what plain loads brought after a barrier of the block. Nobody waits for another block: parts of a row block are
//   added by whichever of them ends last (fence, then ticket), always in the same order.
template <class T, class Offset>
__global__ void __launch_bounds__(threads, short_blocks<T>)
    csr_short_kernel(Product<CsrView<const T, Offset>> p, CsrParts parts, Skip skip,
                     GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  extern __shared__ __align__(128) unsigned char memory[];
  auto& m = *reinterpret_cast<ShortMemory<T, Offset>*>(memory);
  Range<Offset> ahead{};  // used by thread 0
  if (threadIdx.x == 0) {
    for (std::uint64_t& barrier : m.full) init_copies(barrier);
    m.at = m.end = 0, m.step = 0, m.next_piece = static_cast<std::int32_t>(blockIdx.x);
    m.pieces = count_of(parts, p.a.rows);
    if (m.next_piece < m.pieces) ahead = range_of(p.a, parts, item_of(parts, p.a.rows, m.pieces, m.next_piece));
    start_step(p.a, parts, m, 0, 0, ahead);
  }
  __syncthreads();
  typename DotsView<T>::Sum dots;
  T sum{};
  for (unsigned taken = 0, slot = 0;; ++taken, slot = slot == 2 ? 0 : slot + 1) {
    const Step<Offset>& now = m.steps[slot];
    if (now.item.row_block < 0) break;
    const unsigned stage = taken % stages;
    const Offset base = static_cast<Offset>(p.a.base);
    const std::int64_t row = std::int64_t{now.item.row_block} * row_block + threadIdx.x;
    Offset row_begin = 0, row_end = 0;  // asked for before the next step is looked for
    if (row < p.a.rows) row_begin = p.a.row_offsets[row], row_end = p.a.row_offsets[row + 1];
    if (threadIdx.x == 0) start_step(p.a, parts, m, slot == 2 ? 0 : slot + 1, (taken + 1) % stages, ahead);
    const Offset first = base + now.begin;
    const int from = static_cast<int>(min(max(row_begin - first, Offset(0)), Offset(now.count)));
    const int to = static_cast<int>(min(max(row_end - first, Offset(0)), Offset(now.count)));
    if (const int bulk = bulk_of(p.a, now.begin, now.count); bulk < now.count) {  // uniform: all meet in the barrier
      for (int k = bulk + static_cast<int>(threadIdx.x); k < now.count; k += threads) {
        m.values[stage][k] = p.a.values[now.begin + k];
        m.columns[stage][k] = p.a.col_indices[now.begin + k];
      }
      __syncthreads();
    }
    wait_for_copies(m.full[stage], taken / stages % 2);
    const T* values = m.values[stage];
    const std::int32_t* columns = m.columns[stage];
    const auto first_column = static_cast<std::int32_t>(p.a.base);
    const bool is_long = to - from > long_segment;
    if (!is_long) sum += sum_alone(values, columns, first_column, p.x, from, to);
    if (__any_sync(~0u, is_long)) sum += sum_long(values, columns, first_column, p.x, from, to);
    if (now.last) {
      if ((now.item.parts == 1 || gather_parts(parts, now.item, sum)) && row < p.a.rows) {
        const auto mine = p.store(row, sum);
        if (p.dots.wanted()) dots += mine;
      }
      sum = T{};
    }
    __syncthreads();
  }
  if (p.dots.wanted()) grid_sum(dots, scratch, [&](const typename DotsView<T>::Sum& total) { p.dots.finish(total); });
}

// ---- Longer rows: products in the order of entries.

constexpr int tile = 8 * threads;  // products of a tile: 8 in flight a thread
constexpr int tile_segment = 64;   // from here on a warp adds up what a row has in a tile
constexpr int most_segments = tile / tile_segment;

template <class T>
struct TileMemory {
  T products[tile];
  T sums[most_segments];
  int begins[most_segments], ends[most_segments], segments;
};

/// Where some rows have long segments in a tile: a warp each adds those up; what this thread's row has.
template <class T>
__device__ T sum_segments(TileMemory<T>& m, bool is_long, int from, int to) {
  const int segment = is_long ? atomicAdd(&m.segments, 1) : 0;
  if (is_long) m.begins[segment] = from, m.ends[segment] = to;
  __syncthreads();
  for (int s = threadIdx.x / 32; s < m.segments; s += threads / 32) {
    T sum{};
    for (int k = m.begins[s] + static_cast<int>(threadIdx.x % 32); k < m.ends[s]; k += 32) sum += m.products[k];
    sum = lanes_sum(sum, 32);
    if (threadIdx.x % 32 == 0) m.sums[s] = sum;
  }
  __syncthreads();
  return is_long ? m.sums[segment] : T{};
}

// Threads: a block takes 256 rows at a time, or a part of their entries. All its threads multiply the entries in order
//   (coalesced) into shared memory, a tile at a time; then thread t adds up what row t has in the tile, or a warp does.
// Bytes: every entry, offset and y once, x as often as the caches miss. Streaming loads of the entries cost 12 % at
// 7-point
//   256^3 on an H200.
// Races: a tile is written before the first barrier of a round and read before the next round's; parts as above. The
//   list of long segments has room for all that fit a tile, and its order does not matter: each is another row's.
template <class T, class Offset>
__global__ void __launch_bounds__(threads, sizeof(T) > 8 ? 5 : 8)
    csr_long_kernel(Product<CsrView<const T, Offset>> p, CsrParts parts, Skip skip,
                    GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  extern __shared__ __align__(128) unsigned char memory[];
  auto& m = *reinterpret_cast<TileMemory<T>*>(memory);
  const CsrView<const T, Offset>& a = p.a;
  const auto base = static_cast<std::int32_t>(a.base);
  typename DotsView<T>::Sum dots;
  const std::int32_t pieces = count_of(parts, a.rows);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < pieces; i += static_cast<std::int32_t>(gridDim.x)) {
    const CsrItem item = item_of(parts, a.rows, pieces, i);
    const Range<Offset> range = range_of(a, parts, item);
    const std::int64_t row = std::int64_t{item.row_block} * row_block + threadIdx.x;
    const Offset row_begin = row < a.rows ? a.row_offsets[row] - base : range.end;
    const Offset row_end = row < a.rows ? a.row_offsets[row + 1] - base : range.end;
    T sum{};
    for (Offset start = range.begin; start < range.end;) {
      const int filled = range.end - start < tile ? static_cast<int>(range.end - start) : tile;
      if (threadIdx.x == 0) m.segments = 0;
#pragma unroll
      for (int u = 0; u < tile / threads; ++u) {
        const int k = u * threads + static_cast<int>(threadIdx.x);
        if (k < filled) m.products[k] = a.values[start + k] * p.x[a.col_indices[start + k] - base];
      }
      __syncthreads();
      const int from = row_begin > start ? static_cast<int>(min(row_begin - start, Offset(filled))) : 0;
      const int to = row_end > start ? static_cast<int>(min(row_end - start, Offset(filled))) : 0;
      const bool is_long = to - from >= tile_segment;
      if (!is_long)
        for (int k = from; k < to; ++k) sum += m.products[k];
      if (__syncthreads_or(is_long)) sum += sum_segments(m, is_long, from, to);
      if (range.end - start <= tile) break;
      start += tile;
    }
    if (item.parts > 1 && !gather_parts(parts, item, sum)) continue;
    if (row < a.rows) {
      const auto mine = p.store(row, sum);
      if (p.dots.wanted()) dots += mine;
    }
  }
  if (p.dots.wanted()) grid_sum(dots, scratch, [&](const typename DotsView<T>::Sum& total) { p.dots.finish(total); });
}

template <auto kernel, class T, class Offset>
void launch(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p, const CsrParts& parts, std::size_t shared) {
  const int resident = resident_blocks<kernel>(cuda, shared);
  const int blocks = parts.items ? resident : std::min(grid_blocks(cuda, p.a.rows), resident);
  Frame frame(cuda);
  const auto scratch = grid_scratch<typename DotsView<T>::Sum>(cuda, frame, blocks);
  kernel<<<blocks, threads, shared, cuda.stream>>>(p, parts, cuda.skip, scratch);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void run_product(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p, const CsrParts& parts) {
  if (p.a.nnz < std::int64_t{short_mean} * p.a.rows)
    launch<csr_short_kernel<T, Offset>>(cuda, p, parts, sizeof(ShortMemory<T, Offset>));
  else
    launch<csr_long_kernel<T, Offset>>(cuda, p, parts, sizeof(TileMemory<T>));
}

template <class T, class Offset>
void run_product(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p) {
  run_product(cuda, p, CsrParts{});
}

#define INSTANTIATE(T, Offset)                                                                \
  template void run_product(const Cuda&, const Product<CsrView<const kernel_t<T>, Offset>>&); \
  template void run_product(const Cuda&, const Product<CsrView<const kernel_t<T>, Offset>>&, const CsrParts&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
