#include "sparse/convert/prune.hpp"
#include "sparse/convert/prune_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr int digit_bits = 11;  ///< 8 KB of counts a block, 3 or 6 readings. Not varied.
};
constexpr int digits = 1 << Tuning::digit_bits;

/// What is known of the number that is looked for: its upper digits, and its rank among those that share them.
template <class Order>
struct Candidates {
  Order prefix;
  std::int64_t rank;
};

/// No digit known, nothing counted. Over the digits.
template <class Order>
struct StartSelection {
  using Sum = NoSum;
  std::int64_t rank;
  Candidates<Order>* among;
  unsigned long long* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t digit) const {
    counts[digit] = 0;
    if (digit == 0) *among = {0, rank};
    return {};
  }
};

// Threads: grid-stride over the values. A thread adds up a run of one digit before it counts it, for many values may be
//   the same, zeros of a dense matrix above all.
// Bytes: the values once. Races: counts are added atomically, in shared memory, then the block's to all; whole numbers,
//   so in any order. Barriers stand outside of the loop.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    count_digits_kernel(ValueLines<T> from, int shift, const Candidates<MagnitudeOrder<T>>* among,
                        unsigned long long* counts, Skip skip) {
  if (skip.now()) return;
  __shared__ unsigned mine[digits];
  for (int digit = threadIdx.x; digit < digits; digit += sum_threads) mine[digit] = 0;
  __syncthreads();
  const auto prefix = among->prefix;
  unsigned run_digit = 0, run = 0;
  const std::int64_t stride = std::int64_t(gridDim.x) * sum_threads;
#pragma unroll 4  // not varied
  for (std::int64_t k = std::int64_t(blockIdx.x) * sum_threads + threadIdx.x; k < from.size(); k += stride) {
    const auto order = magnitude_order(from.at(k));
    if ((order ^ prefix) >> shift >> Tuning::digit_bits != 0) continue;
    const unsigned digit = static_cast<unsigned>(order >> shift) % digits;
    if (digit != run_digit) {
      if (run > 0) atomicAdd(&mine[run_digit], run);
      run_digit = digit, run = 0;
    }
    ++run;
  }
  if (run > 0) atomicAdd(&mine[run_digit], run);
  __syncthreads();
  for (int digit = threadIdx.x; digit < digits; digit += sum_threads)
    if (mine[digit] > 0) atomicAdd(&counts[digit], static_cast<unsigned long long>(mine[digit]));
}

// Threads: one block; each owns neighboring digits, and the one whose digits hold the rank finds it among them.
// Bytes: the counts, read twice and cleared for the next digit. Races: a thread looks at its own counts alone; the rank
//   is read before the barrier, and written after it by one thread, for the counts before are the same for all.
template <class Order>
__global__ void __launch_bounds__(sum_threads)
    find_digit_kernel(int shift, Candidates<Order>* among, unsigned long long* counts, double* threshold, Skip skip) {
  if (skip.now()) return;
  constexpr int owned = digits / sum_threads, warp_size = 32;
  __shared__ std::int64_t warp_sums[sum_threads / warp_size];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t rank = among->rank;
  unsigned long long* own = counts + threadIdx.x * owned;
  std::int64_t sum = 0;
  for (int i = 0; i < owned; ++i) sum += static_cast<std::int64_t>(own[i]);
  long long end = sum;  // of the counts up to here
  for (int offset = 1; offset < warp_size; offset *= 2) {
    const long long before = __shfl_up_sync(~0u, end, offset);
    if (lane >= offset) end += before;
  }
  if (lane == warp_size - 1) warp_sums[warp] = end;
  __syncthreads();
  for (int w = 0; w < warp; ++w) end += warp_sums[w];
  if (end - sum <= rank && rank < end) {
    std::int64_t left = rank - (end - sum);
    int i = 0;
    for (; left >= static_cast<std::int64_t>(own[i]); ++i) left -= static_cast<std::int64_t>(own[i]);
    const Order prefix = among->prefix | static_cast<Order>(threadIdx.x * owned + i) << shift;
    *among = {prefix, left};
    if (shift == 0) *threshold = threshold_at(prefix);
  }
  for (int i = 0; i < owned; ++i) own[i] = 0;
}

}  // namespace

// A radix selection: the upper digit of the number of that rank first, then the next one of those that share it.
template <class T>
void threshold_of_rank(const Cuda& cuda, const ValueLines<T>& from, std::int64_t rank, double* threshold) {
  using Order = MagnitudeOrder<T>;
  constexpr int bits = 8 * sizeof(Order) - 1;  // no sign
  Frame frame(cuda);
  auto* among = frame.take<Candidates<Order>>(1);
  auto* counts = frame.take<unsigned long long>(digits);
  run_pass(cuda, digits, StartSelection<Order>{rank, among, counts});
  for (int digit = (bits - 1) / Tuning::digit_bits; digit >= 0; --digit) {
    const int shift = digit * Tuning::digit_bits;
    count_digits_kernel<<<grid_blocks(cuda, from.size()), sum_threads, 0, cuda.stream>>>(from, shift, among, counts,
                                                                                         cuda.skip);
    check(cudaGetLastError());
    find_digit_kernel<<<1, sum_threads, 0, cuda.stream>>>(shift, among, counts, threshold, cuda.skip);
    check(cudaGetLastError());
  }
}

}  // namespace krill

namespace krill::detail {
namespace {

// Threads: a block a tile, a warp each 8th word of it, whose entries its lanes compare and vote on; then the first warp
//   adds up the words' counts, two a lane. Bytes: the values once, a word of 8 for 32 of them. Races: none; a barrier
//   between the votes and their sums.
template <class T>
__global__ void __launch_bounds__(sum_threads) mark_kernel(std::int64_t size, const T* values, double threshold,
                                                           KeptWord* words, std::int64_t* counts, Skip skip) {
  if (skip.now()) return;
  constexpr int warps = sum_threads / 32, each = Kept::words / warps;
  static_assert(Kept::word == 32 && Kept::words == 64 && each * warps == Kept::words);
  __shared__ std::uint32_t bits[Kept::words];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = std::int64_t{blockIdx.x} * Kept::tile;
  T value[each];
#pragma unroll
  for (int u = 0; u < each; ++u) {
    const std::int64_t k = first + (u * warps + warp) * Kept::word + lane;
    value[u] = k < size ? values[k] : T(0);  // is never above
  }
#pragma unroll
  for (int u = 0; u < each; ++u) {
    const unsigned votes = __ballot_sync(~0u, is_above(value[u], threshold));
    if (lane == 0) bits[u * warps + warp] = votes;
  }
  __syncthreads();
  if (warp > 0) return;
  const std::uint32_t one = bits[2 * lane], other = bits[2 * lane + 1];
  const std::uint32_t own = __popc(one) + __popc(other);
  std::uint32_t end = own;  // of the counts up to here
  for (int offset = 1; offset < 32; offset *= 2) {
    const std::uint32_t lower = __shfl_up_sync(~0u, end, offset);
    if (lane >= offset) end += lower;
  }
  KeptWord* const mine = words + std::int64_t{blockIdx.x} * Kept::words + 2 * lane;
  mine[0] = {one, end - own};
  mine[1] = {other, end - own + __popc(one)};
  if (lane == 31) counts[blockIdx.x] = end;
}

// Threads: a block a tile, the last first, for what was marked last may still lie in the cache; each thread every 256th
//   entry of it. All loads of a thread are under way at once, of entries that are kept alone. Bytes: what is kept of
//   the columns and values, read and written, a word of 8 for 32 entries.
// Races: none, each entry has its place.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    copy_kernel(std::int64_t size, Kept kept, EntryList<const T> from, EntryList<T> to, Skip skip) {
  if (skip.now()) return;
  constexpr int each = Kept::tile / sum_threads;
  const std::int64_t first = (std::int64_t{gridDim.x} - 1 - blockIdx.x) * Kept::tile;
  std::int64_t place[each];
  std::int32_t column[each];
  T value[each];
#pragma unroll
  for (int u = 0; u < each; ++u) {
    const std::int64_t k = first + u * sum_threads + threadIdx.x;  // words of the last tile are all there
    place[u] = kept.has(k) ? kept.before(k) : -1;
    column[u] = 0, value[u] = T(0);
    if (place[u] >= 0) column[u] = from.columns[k], value[u] = from.values[k];
  }
#pragma unroll
  for (int u = 0; u < each; ++u)
    if (place[u] >= 0) to.columns[place[u]] = column[u], to.values[place[u]] = value[u];
}

}  // namespace

template <class T>
void mark_above(const Cuda& cuda, std::int64_t size, const T* values, double threshold, KeptWord* words,
                std::int64_t* counts) {
  if (size == 0) return;
  mark_kernel<<<static_cast<unsigned>(Kept::tiles(size)), sum_threads, 0, cuda.stream>>>(size, values, threshold, words,
                                                                                         counts, cuda.skip);
  check(cudaGetLastError());
}

template <class T>
void copy_kept(const Cuda& cuda, std::int64_t size, const Kept& kept, const EntryList<const T>& from,
               const EntryList<T>& to) {
  if (size == 0) return;
  copy_kernel<<<static_cast<unsigned>(Kept::tiles(size)), sum_threads, 0, cuda.stream>>>(size, kept, from, to,
                                                                                         cuda.skip);
  check(cudaGetLastError());
}

template class KeptPasses<std::int32_t, Cuda>;
template class KeptPasses<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(CountAboveKernels, Cuda);
KRILL_INSTANTIATE(PruneKernels, Cuda);
template class CountAboveKernels<Half, std::int32_t, Cuda>;
template class CountAboveKernels<Half, std::int64_t, Cuda>;
template class PruneKernels<Half, Cuda>;

}  // namespace krill::detail
