#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/grid_barrier.cuh"

namespace krill::detail {
namespace {

constexpr int open_slots = 3;  // of this round, of the one before, and of the next one

// Threads: teams of `lanes` neighboring ones have rows, as in reduce_rows; all blocks are resident and go through
//   rounds together. A round has two barriers of the grid.
// Bytes: the graph twice a round, as far as rows are open; keys as often as the caches miss.
// Races: keys are written between the barriers at which they are read, each by one lane; slots of open rows are added
//   to in one round, read after its last barrier and cleared a round later.
template <class Offset>
__global__ void __launch_bounds__(sum_threads, sum_blocks_per_multiprocessor)
    find_roots_kernel(SpreadKeys<Offset> spread, DecideRoots<Offset> decide, int lanes, unsigned* arrivals,
                      unsigned long long* open, Skip skip) {
  if (skip.now()) return;
  GridBarrier barrier(arrivals);
  for (int round = 0;; ++round) {
    decide.round = round;
    reduce_rows_of_grid(spread, lanes);
    barrier.wait();
    const std::int64_t mine = block_sum(reduce_rows_of_grid(decide, lanes));
    if (threadIdx.x == 0) {
      if (mine > 0) atomicAdd(open + round % open_slots, static_cast<unsigned long long>(mine));
      if (blockIdx.x == 0) open[(round + 1) % open_slots] = 0;
    }
    barrier.wait();
    if (load_through(open + round % open_slots) == 0) return;
  }
}

}  // namespace

template <class Offset>
void find_roots(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, RootKey::Word* keys,
                RootKey::Word* greatest) {
  if (a.rows == 0) return;
  constexpr auto kernel = find_roots_kernel<Offset>;
  int lanes = lanes_of_rows(a.nnz, a.rows);
  const int blocks = std::min(grid_blocks(cuda, a.rows, sum_threads / lanes), resident_blocks<kernel>(cuda));
  Frame frame(cuda);
  unsigned* arrivals = take_arrivals(cuda, frame);
  auto* open = frame.take<unsigned long long>(open_slots);
  check(cudaMemsetAsync(open, 0, open_slots * sizeof *open, cuda.stream));
  SpreadKeys<Offset> spread{a, keys, greatest};
  DecideRoots<Offset> decide{a, 0, greatest, keys};
  Skip skip = cuda.skip;
  void* arguments[] = {&spread, &decide, &lanes, &arrivals, &open, &skip};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                                    dim3(sum_threads), arguments, 0, cuda.stream));
}

template void find_roots(const Cuda&, const CsrView<const NoValue, std::int32_t>&, RootKey::Word*, RootKey::Word*);
template void find_roots(const Cuda&, const CsrView<const NoValue, std::int64_t>&, RootKey::Word*, RootKey::Word*);

}  // namespace krill::detail
