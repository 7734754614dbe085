// Passes over an index range on the device, their sums finished inside the same kernel.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>

#include "sparse/core/pass.hpp"
#include "sparse/core/team.hpp"
#include "sparse/core/team_slots.cuh"

namespace krill {

/// Of passes, and of all kernels that end in a sum over the grid.
struct PassTuning {
  static constexpr int threads = 256;                  ///< of a block. Not varied.
  static constexpr int blocks_per_multiprocessor = 8;  ///< 2048 resident threads: the chip's limit
  static constexpr int unroll = 4;                     ///< entries in flight a thread. Not varied.
};
inline constexpr int sum_threads = PassTuning::threads;
inline constexpr int sum_blocks_per_multiprocessor = PassTuning::blocks_per_multiprocessor;

/// The value with f applied to each of its 4-byte words.
template <class T, class F>
__device__ T on_words(T value, F&& f) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0);
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
#pragma unroll
  for (unsigned& word : words) word = f(word);
  memcpy(&value, words, sizeof value);
  return value;
}

/// The value of the lane `offset` further on, for any small struct of 4-byte words.
template <class T>
__device__ T shuffle_down(T value, int offset) {
  return on_words(value, [offset](unsigned word) { return __shfl_down_sync(~0u, word, offset); });
}

/// The value of lane `source`.
template <class T>
__device__ T shuffle_from(T value, int source) {
  return on_words(value, [source](unsigned word) { return __shfl_sync(~0u, word, source); });
}

/// A value that another multiprocessor wrote before it took its ticket. Loaded as volatile words, past L1, which may
/// hold old ones.
template <class T>
__device__ T load_through(const T* from) {
  T value;
  unsigned words[sizeof(T) / sizeof(unsigned)];
  const volatile unsigned* at = reinterpret_cast<const volatile unsigned*>(from);
#pragma unroll
  for (unsigned w = 0; w < sizeof(T) / sizeof(unsigned); ++w) words[w] = at[w];
  memcpy(&value, words, sizeof value);
  return value;
}

/// Adds over `lanes` (a power of two) neighboring lanes of a warp; valid in the first of them.
template <class T>
__device__ T lanes_sum(T sum, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += shuffle_down(sum, offset);
  return sum;
}

/// Adds `mine` over the block, of whole warps; the result is valid in thread 0. Shuffles inside a warp, then one value
/// a warp.
template <class T>
__device__ T block_sum(T mine) {
  __shared__ alignas(T) unsigned char memory[sizeof(T) * 32];
  T* warp_sums = reinterpret_cast<T*>(memory);
  mine = lanes_sum(mine, 32);
  __syncthreads();  // an earlier call may still be reading warp_sums
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = mine;
  __syncthreads();
  T total{};
  if (threadIdx.x == 0)
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += warp_sums[warp];
  return total;
}

/// Where the blocks of one grid leave their partial sums.
template <class T>
struct GridScratch {
  T* partials;       // one a block
  unsigned* ticket;  // zero between kernels
};

/// Adds `mine` over the grid and calls use(total) once, in one thread of the block that arrives last; there, late() is
/// what each thread adds to it.
/// Repeatable: the partial sums are added in block order, whichever block arrives last. No deadlock: no block waits.
/// The fence orders a block's partial before its ticket; the ticket is handed back as zero for the next kernel.
template <class T, class Use, class Late>
__device__ void grid_sum(T mine, GridScratch<T> scratch, Use&& use, Late&& late) {
  __shared__ bool last;
  const T block = block_sum(mine);
  if (threadIdx.x == 0) {
    scratch.partials[blockIdx.x] = block;
    __threadfence();
    last = atomicAdd(scratch.ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  T sum = late();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += load_through(scratch.partials + i);
  const T total = block_sum(sum);
  if (threadIdx.x == 0) {
    *scratch.ticket = 0;
    use(total);
  }
}
template <class T, class Use>
__device__ void grid_sum(T mine, GridScratch<T> scratch, Use&& use) {
  grid_sum(mine, scratch, use, [] { return T{}; });
}

/// Blocks for n elements when each block strides over the grid; one for none, so that a pass over nothing finishes.
inline int grid_blocks(const Cuda& cuda, std::int64_t n, int per_block = sum_threads) {
  const std::int64_t wanted = (n + per_block - 1) / per_block,
                     most = cuda.multiprocessors * sum_blocks_per_multiprocessor;
  return static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/// Shared memory that a block can have on the device, bytes.
inline std::size_t max_shared(const Cuda& cuda) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda.device));
  return static_cast<std::size_t>(most);
}

/// Blocks of `kernel` that the device holds at a time: a grid that strides needs no more, and more would leave the last
/// wave half empty. A launch with so much shared memory is allowed from then on.
template <auto kernel>
int resident_blocks(const Cuda& cuda, std::size_t shared = 0, int threads = sum_threads) {
  static std::mutex mutex;
  static std::map<int, std::size_t> allowed;                    // on each device
  static std::map<std::pair<int, std::size_t>, int> occupancy;  // by device and shared memory
  const std::lock_guard<std::mutex> lock(mutex);
  auto known = occupancy.find({cuda.device, shared});
  if (known == occupancy.end()) {
    if (std::size_t& most = allowed[cuda.device]; shared > most) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
      most = shared;
    }
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
    known = occupancy.emplace(std::pair{cuda.device, shared}, blocks).first;
  }
  return cuda.multiprocessors * known->second;
}

/// Partials for a grid of `blocks`, in the frame's memory: the next kernel of the stream may use the same.
template <class T>
GridScratch<T> grid_scratch(const Cuda& cuda, Frame& frame, int blocks) {
  return {frame.take<T>(static_cast<std::size_t>(blocks)), cuda.ticket};
}

/// What the ranks of the tag's team have at `mine`, in their order; null, and nothing is done, where there is no team.
template <class Record>
Record* gather_over_team(const Cuda& cuda, Frame& frame, const Record* mine) {
  if (!cuda.team) return nullptr;
  Record* all = frame.take<Record>(static_cast<std::size_t>(cuda.team->size()));
  cuda.team->gather_on(cuda, mine, all, sizeof(Record));
  return all;
}

/// Threads: grid-stride over the entries, PassTuning::unroll of them in flight. Bytes: what the pass says.
/// Races: entry(i) touches index i alone; finish runs after every block's part. Where there are slots, the sum is that
/// of all ranks; where there is `mine`, the sum goes there, and finish_pass goes on with it.
template <class Pass, class Sum = typename Pass::Sum>
__global__ void __launch_bounds__(sum_threads)
    pass_kernel(std::int64_t n, Pass pass, Skip skip, GridScratch<Sum> scratch, TeamSlots* slots = nullptr,
                Sum* mine = nullptr) {
  if (skip.now() || !pass.begin()) return;
  Sum sum{};
  const std::int64_t stride = std::int64_t(gridDim.x) * sum_threads;
  std::int64_t i = std::int64_t(blockIdx.x) * sum_threads + threadIdx.x;
#pragma unroll PassTuning::unroll
  for (; i < n; i += stride) sum += pass.entry(i);
  if constexpr (!std::is_same_v<Sum, NoSum>)
    grid_sum(sum, scratch, [&](const Sum& total) {
      if (mine)
        *mine = total;
      else
        pass.finish(slots ? sum_over_ranks(slots, total) : total);
    });
}

/// The end of a pass whose sums several ranks add up, in their order. Threads: one. Bytes: a sum of each rank. Races:
/// none.
template <class Pass, class Sum = typename Pass::Sum>
__global__ void finish_pass(Pass pass, Skip skip, const Sum* of_ranks, int ranks) {
  if (skip.now() || !pass.begin()) return;
  Sum total{};
  for (int r = 0; r < ranks; ++r) total += of_ranks[r];
  pass.finish(total);
}

/// As run_pass(Host, ...). begin() runs in every thread: it gives all of them the same answer (a block that left would
/// not take its ticket) and writes nothing that another thread's begin() reads, save a reason that makes it end too.
template <class Pass>
void run_pass(const Cuda& cuda, std::int64_t n, Pass pass) {
  using Sum = typename Pass::Sum;
  const int blocks = grid_blocks(cuda, n);
  Frame frame(cuda);
  GridScratch<Sum> scratch{};
  TeamSlots* slots = nullptr;
  Sum* mine = nullptr;
  if constexpr (!std::is_same_v<Sum, NoSum>) {
    scratch = grid_scratch<Sum>(cuda, frame, blocks);
    if (cuda.team) slots = cuda.team->slots();
    if (cuda.team && !slots) mine = frame.take<Sum>(1);
  }
  pass_kernel<<<blocks, sum_threads, 0, cuda.stream>>>(n, pass, cuda.skip, scratch, slots, mine);
  check(cudaGetLastError());
  if constexpr (!std::is_same_v<Sum, NoSum>)
    if (mine) {
      const Sum* of_ranks = gather_over_team(cuda, frame, mine);
      finish_pass<<<1, 1, 0, cuda.stream>>>(pass, cuda.skip, of_ranks, cuda.team->size());
      check(cudaGetLastError());
    }
}

}  // namespace krill
