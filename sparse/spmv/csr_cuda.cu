#include <algorithm>

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/pass_cuda.cuh"
#include "krill/sparse/spmv/csr_parts.hpp"
#include "krill/sparse/spmv/product.hpp"

namespace krill {
namespace {

constexpr int threads = sum_threads;
constexpr int row_block = csr_row_block;
static_assert(row_block == threads);

/// Entries that a stage holds: what 256 rows of 7 have, and a multiple of 4, so that pieces begin at 16 bytes. Measured
/// on an H200 with doubles: 5 blocks of two stages a multiprocessor are faster than 8 of one, or 3 of three.
template <class T>
constexpr int stage_entries = sizeof(T) > 8 ? 1024 : 1824;
constexpr int stages = 2;
template <class T>
constexpr int blocks_wanted = sizeof(T) > 8 ? 4 : 5;  ///< on a multiprocessor: the compiler's limit on registers
constexpr int long_segment = 64;      // from here on a warp adds up the entries that a row has in a stage
constexpr int short_segment = 32;     // up to here a thread may gather its row's entries on its own
constexpr int most_threads_idle = 2;  // ... where no more than one in this many threads has a row

/// A piece of work: entries begin .. end, `step` of them at a time; step is 0 where there is no work left.
template <class Offset>
struct Piece {
  CsrItem item;
  int step;
  Offset begin, end;
};

/// Shared memory of a block.
template <class T, class Offset>
struct alignas(128) Memory {
  T values[stages][stage_entries<T>];
  std::int32_t columns[stages][stage_entries<T>];
  T segment_sums[stage_entries<T> / long_segment];
  std::int32_t segment_begins[stage_entries<T> / long_segment], segment_ends[stage_entries<T> / long_segment];
  std::int32_t segments;
  Piece<Offset> pieces[3];     // this one, the next one, and the last one, which late threads may still look at
  std::uint64_t full[stages];  // barriers of the copies
};

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// One thread announces `bytes` to come.
__device__ void expect(std::uint64_t& barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}
/// Starts a copy into shared memory; addresses and size are multiples of 16.
__device__ void copy_async(void* to, const void* from, std::uint32_t bytes, std::uint64_t& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(&barrier))
               : "memory");
}
__device__ void wait(std::uint64_t& barrier, std::uint32_t parity) {
  std::uint32_t done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(&barrier)), "r"(parity)
                 : "memory");
}

/// The sum of values[begin .. end) over the lanes of a warp, valid in lane 0.
template <class T>
__device__ T warp_segment_sum(const T* values, int begin, int end) {
  T sum{};
  for (int k = begin + static_cast<int>(threadIdx.x % 32); k < end; k += 32) sum += values[k];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += shuffle_down(sum, offset);
  return sum;
}

template <class T, class Offset>
class Block {
 public:
  __device__ Block(const Product<CsrView<const T, Offset>>& p, const CsrParts& parts, Memory<T, Offset>& memory)
      : p_(p), parts_(parts), memory_(memory) {
    if (threadIdx.x == 0) {
      for (std::uint64_t& barrier : memory.full)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      start_piece(memory.pieces[0], blockIdx.x);
    }
    __syncthreads();
  }

  __device__ typename DotsView<T>::Sum run() {
    typename DotsView<T>::Sum dots;
    std::int64_t next = blockIdx.x;
    for (int n = 0;; n = (n + 1) % 3) {
      const Piece<Offset>& now = memory_.pieces[n];
      Piece<Offset>& later = memory_.pieces[(n + 1) % 3];
      next += gridDim.x;
      if (now.step == 0) return dots;
      const std::int64_t row = std::int64_t{now.item.row_block} * row_block + threadIdx.x;
      const Offset base = static_cast<Offset>(p_.a.base);
      const Offset row_begin = row < p_.a.rows ? p_.a.row_offsets[row] - base : 0;
      const Offset row_end = row < p_.a.rows ? p_.a.row_offsets[row + 1] - base : 0;
      T sum{};
      Offset at = now.begin;
      do {
        const bool last = now.end - at <= now.step;
        if (threadIdx.x == 0) {
          if (last)
            start_piece(later, next);
          else
            start(now, at + now.step);
        }
        if (at < now.end) add(last ? static_cast<int>(now.end - at) : now.step, at, row_begin, row_end, sum);
        // The stage may be filled again: by copies, which shall not be overtaken by what was stored there before.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (last) break;
        at += now.step;
      } while (true);
      if (now.item.parts > 1 && !gather_parts(now.item, sum)) continue;
      if (row < p_.a.rows) {
        const auto mine = p_.store(row, sum);
        if (p_.dots.wanted()) dots += mine;
      }
    }
  }

 private:
  /// Finds piece i and begins to bring its first entries. One thread.
  __device__ void start_piece(Piece<Offset>& piece, std::int64_t i) {
    const std::int64_t rows = p_.a.rows, count = parts_.items ? *parts_.count : (rows + row_block - 1) / row_block;
    piece.step = 0;
    if (i >= count) return;
    const Offset base = static_cast<Offset>(p_.a.base);
    piece.item = parts_.items ? parts_.items[i] : CsrItem{static_cast<std::int32_t>(i), 0, 1, 0};
    const std::int64_t first = std::int64_t{piece.item.row_block} * row_block;
    Offset begin = (p_.a.row_offsets[first] - base) / 4 * 4;
    Offset end = p_.a.row_offsets[min(first + row_block, rows)] - base;
    if (piece.item.parts > 1) {
      begin += Offset(piece.item.part) * csr_part_entries;
      if (end - begin > csr_part_entries) end = begin + csr_part_entries;
    }
    // equal steps, each a multiple of 4: whole stages and a small rest would waste the last one
    const auto entries = static_cast<std::int64_t>(end - begin);
    const auto steps = (entries + stage_entries<T> - 1) / stage_entries<T>;
    piece.begin = begin, piece.end = end;
    piece.step = steps > 0 ? static_cast<int>(((entries + steps - 1) / steps + 3) / 4 * 4) : 4;
    if (begin < end) start(piece, begin);
  }

  /// Begins to fill the next stage with the entries from `at` on, a multiple of 4. One thread.
  __device__ void start(const Piece<Offset>& piece, Offset at) {
    const int stage = started_++ % stages;
    const int bulk = bulk_entries(at, static_cast<int>(min(piece.end - at, Offset(piece.step))));
    expect(memory_.full[stage], bulk * (sizeof(T) + sizeof(std::int32_t)));
    if (bulk == 0) return;
    copy_async(memory_.values[stage], p_.a.values + at, bulk * sizeof(T), memory_.full[stage]);
    copy_async(memory_.columns[stage], p_.a.col_indices + at, bulk * sizeof(std::int32_t), memory_.full[stage]);
  }

  /// How many of `filled` entries a copy in the background brings: that takes 16 bytes at a time, aligned, and shall
  /// not reach beyond the arrays.
  __device__ int bulk_entries(Offset at, int filled) const {
    const auto addresses =
        reinterpret_cast<std::uintptr_t>(p_.a.values) | reinterpret_cast<std::uintptr_t>(p_.a.col_indices);
    if (addresses % 16 != 0) return 0;
    const int rounded = (filled + 3) / 4 * 4;
    return rounded <= p_.a.nnz - static_cast<std::int64_t>(at) ? rounded : filled / 4 * 4;
  }

  /// Adds to `sum` what this thread's row has among the `filled` entries from `at` on.
  __device__ void add(int filled, Offset at, Offset row_begin, Offset row_end, T& sum) {
    const int stage = taken_ % stages;
    const auto base = static_cast<std::int32_t>(p_.a.base);
    T* values = memory_.values[stage];
    std::int32_t* columns = memory_.columns[stage];
    for (int k = bulk_entries(at, filled) + static_cast<int>(threadIdx.x); k < filled; k += threads)
      values[k] = p_.a.values[at + k], columns[k] = p_.a.col_indices[at + k];
    const int from = row_begin > at ? static_cast<int>(min(row_begin - at, Offset(filled))) : 0;
    const int to = row_end > at ? static_cast<int>(min(row_end - at, Offset(filled))) : 0;
    if (threadIdx.x == 0) memory_.segments = 0;
    const bool each_its_row =
        __syncthreads_count(to > from) * most_threads_idle >= threads && !__syncthreads_or(to - from > short_segment);
    wait(memory_.full[stage], taken_ / stages % 2);
    ++taken_;
    if (each_its_row) {
#pragma unroll 4
      for (int k = from; k < to; ++k) sum += values[k] * p_.x[columns[k] - base];
      return;
    }
#pragma unroll 4
    for (int k = threadIdx.x; k < filled; k += threads) values[k] = values[k] * p_.x[columns[k] - base];
    __syncthreads();
    const bool is_long = to - from >= long_segment;
    if (!is_long)
      for (int k = from; k < to; ++k) sum += values[k];
    if (__syncthreads_or(is_long)) add_long_segments(values, is_long, from, to, sum);
  }

  __device__ void add_long_segments(const T* products, bool is_long, int from, int to, T& sum) {
    const int segment = is_long ? atomicAdd(&memory_.segments, 1) : 0;
    if (is_long) memory_.segment_begins[segment] = from, memory_.segment_ends[segment] = to;
    __syncthreads();
    for (int s = threadIdx.x / 32; s < memory_.segments; s += threads / 32) {
      const T total = warp_segment_sum(products, memory_.segment_begins[s], memory_.segment_ends[s]);
      if (threadIdx.x % 32 == 0) memory_.segment_sums[s] = total;
    }
    __syncthreads();
    if (is_long) sum += memory_.segment_sums[segment];
  }

  /// Leaves the sums of a part, and adds those of all parts where this block came last; in the order of the parts.
  __device__ bool gather_parts(const CsrItem& item, T& sum) {
    T* sums = static_cast<T*>(parts_.sums) + (std::int64_t{item.slot} - item.part) * row_block;
    sums[std::int64_t{item.part} * row_block + threadIdx.x] = sum;
    __threadfence();
    const bool mine = threadIdx.x == 0 && atomicAdd(&parts_.arrived[item.row_block], 1u) + 1 == unsigned(item.parts);
    if (!__syncthreads_or(mine)) return false;
    __threadfence();
    if (threadIdx.x == 0) parts_.arrived[item.row_block] = 0;
    sum = T{};
#pragma unroll 4
    for (int part = 0; part < item.parts; ++part)
      sum += load_through(sums + std::int64_t{part} * row_block + threadIdx.x);
    return true;
  }

  const Product<CsrView<const T, Offset>>& p_;
  const CsrParts& parts_;
  Memory<T, Offset>& memory_;
  unsigned started_ = 0, taken_ = 0;  // stages that were filled, and used
};

// Threads: a block takes 256 rows at a time, or a part of their entries where those are many. Copies in the background
//   bring the entries into shared memory, a stage ahead; where rows are short each thread then gathers for its own row,
//   otherwise all threads multiply entry by entry and thread t, or a warp, adds up what row t has.
// Bytes: every entry, offset and y once, x as often as the caches miss.
// Races: a stage is filled again only after the barrier at the end of a step; a copy's bytes are read after its own
// barrier, what
//   plain loads brought after at least one barrier of the block. Nobody waits for another block: the parts of a row
//   block are added by whichever of them ends last (fence, then ticket), always in the same order.
template <class T, class Offset>
__global__ void __launch_bounds__(threads, blocks_wanted<T>)
    csr_kernel(Product<CsrView<const T, Offset>> p, CsrParts parts, Skip skip,
               GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  extern __shared__ __align__(128) unsigned char memory[];
  Block<T, Offset> block(p, parts, *reinterpret_cast<Memory<T, Offset>*>(memory));
  const typename DotsView<T>::Sum dots = block.run();
  if (p.dots.wanted()) grid_sum(dots, scratch, [&](const typename DotsView<T>::Sum& total) { p.dots.finish(total); });
}

/// Blocks that a multiprocessor holds at a time: a grid of just those leaves no last wave half empty.
template <class T, class Offset>
int resident_blocks() {
  static const int blocks = [] {
    check(cudaFuncSetAttribute(csr_kernel<T, Offset>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               sizeof(Memory<T, Offset>)));
    int most = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, csr_kernel<T, Offset>, threads,
                                                        sizeof(Memory<T, Offset>)));
    return most;
  }();
  return blocks;
}

}  // namespace

template <class T, class Offset>
void run_product(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p, const CsrParts& parts) {
  const int resident = cuda.multiprocessors * resident_blocks<T, Offset>();
  const int blocks = parts.items ? resident : std::min(grid_blocks(cuda, p.a.rows), resident);
  Frame frame(cuda);
  const auto scratch = grid_scratch<typename DotsView<T>::Sum>(cuda, frame, blocks);
  csr_kernel<<<blocks, threads, sizeof(Memory<T, Offset>), cuda.stream>>>(p, parts, cuda.skip, scratch);
  check(cudaGetLastError());
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
