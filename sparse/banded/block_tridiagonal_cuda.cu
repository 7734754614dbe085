#include "sparse/banded/block_elimination.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int threads = 128;  // of a block; not varied
};

/// Lanes of a warp, each with a column of the blocks. All 32 lanes go the same way, so that shuffles find them; teams
/// that have no rows load zeros and store nothing.
template <int size_>
struct LaneTeam {
  static constexpr int size = size_, columns = 1, lanes = lanes_of_blocks(size_);
  int lane;
  bool some;

  __device__ int column(int) const { return lane; }
  __device__ bool has(int) const { return some && lane < size; }
  __device__ bool has_rows() const { return some; }
  template <class Part>
  __device__ auto entry(const Part& block, int r, int c) const {
    return on_words(block.at[0][r], [c](unsigned word) { return __shfl_sync(~0U, word, c, lanes); });
  }
  template <class T>
  __device__ T sum(T mine) const {
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2)
      mine += on_words(mine, [apart](unsigned word) { return __shfl_xor_sync(~0U, word, apart, lanes); });
    return mine;
  }
};

/// Which chunk a team has. Neighbors have chunks of a system, or, where systems are interleaved, systems.
template <int size>
struct TeamPlace {
  LaneTeam<size> team;
  std::int64_t system;
  std::int32_t chunk;

  template <class T>
  __device__ TeamPlace(const BlockLevel<T>& l, std::int32_t chunks) {
    constexpr int lanes = LaneTeam<size>::lanes;
    const std::int64_t thread = std::int64_t{blockIdx.x} * Tuning::threads + threadIdx.x;
    const std::int64_t number = thread / lanes, batch = l.vectors.batch;
    team = {static_cast<int>(threadIdx.x) % lanes, number < batch * chunks};
    const std::int64_t place = team.some ? number : 0;
    const bool interleaved = l.vectors.is_interleaved();
    system = interleaved ? place % batch : place / chunks;
    chunk = static_cast<std::int32_t>(interleaved ? place / batch : place % chunks);
  }
};

/// Threads: a team a system. Bytes: blocks, b and x once; W and y written and read, too. Races: none, a lane reads what
/// it wrote itself; b may be x, as all lanes have row i of it before one writes x there.
template <int size, class T>
__global__ void __launch_bounds__(Tuning::threads)
    whole_blocks_kernel(BlockLevel<T> l, std::int32_t* zero_rows, const __grid_constant__ BlockPartition partition,
                        Skip skip) {
  if (skip.now()) return;
  const TeamPlace<size> at(l, 1);
  const std::int32_t row = eliminate_blocks<false>(at.team, l, at.system, 0);
  substitute_blocks<false>(at.team, l, at.system, 0);
  if (!at.team.some || at.team.lane > 0) return;
  if (partition.last == 0)
    zero_rows[at.system] = row;
  else if (row != no_row)
    atomicMin(zero_rows + at.system, partition.given_row(partition.last, row));
}

/// Threads: a team a chunk. Bytes: blocks and b once, the blocks right of chunks twice; W, V, y and the rows left over
/// written. Races: the first rows without inverse by atomic minima; chunks write their own rows and places.
template <int size, class T>
__global__ void __launch_bounds__(Tuning::threads)
    reduce_blocks_kernel(BlockLevel<T> l, std::int32_t* zero_rows, const __grid_constant__ BlockPartition partition,
                         int level, Skip skip) {
  if (skip.now()) return;
  const TeamPlace<size> at(l, l.division.chunks());
  const std::int32_t row = eliminate_blocks<true>(at.team, l, at.system, at.chunk);
  if (at.team.some && at.team.lane == 0 && row != no_row)
    atomicMin(zero_rows + at.system, partition.given_row(level, row));
}

/// Threads: a team a chunk. Bytes: W, V, y once, x written once. Races: none, x is written by its chunk.
template <int size, class T>
__global__ void __launch_bounds__(Tuning::threads) substitute_blocks_kernel(BlockLevel<T> l, Skip skip) {
  if (skip.now()) return;
  const TeamPlace<size> at(l, l.division.chunks());
  substitute_blocks<true>(at.team, l, at.system, at.chunk);
}

/// Threads: one a system.
__global__ void __launch_bounds__(Tuning::threads) no_zero_rows_kernel(std::int64_t n, std::int32_t* rows, Skip skip) {
  const std::int64_t j = std::int64_t{blockIdx.x} * Tuning::threads + threadIdx.x;
  if (!skip.now() && j < n) rows[j] = no_row;
}

unsigned blocks_for(std::int64_t threads) { return static_cast<unsigned>(ceil_div(threads, Tuning::threads)); }

template <int size, class T>
void run_levels(const Cuda& cuda, const BlockPartition& partition, const BlockSolve<T>& s) {
  constexpr int threads = Tuning::threads;
  const auto levels = block_levels(partition, s);
  const auto grid = [&](const BlockLevel<T>& l, std::int32_t chunks) {
    return blocks_for(std::int64_t{l.vectors.batch} * chunks * LaneTeam<size>::lanes);
  };
  if (partition.last > 0)
    no_zero_rows_kernel<<<blocks_for(s.vectors.batch), threads, 0, cuda.stream>>>(s.vectors.batch, s.zero_rows,
                                                                                  cuda.skip);
  for (int n = 0; n < partition.last; ++n) {
    const BlockLevel<T>& l = levels[static_cast<std::size_t>(n)];
    reduce_blocks_kernel<size>
        <<<grid(l, l.division.chunks()), threads, 0, cuda.stream>>>(l, s.zero_rows, partition, n, cuda.skip);
  }
  const BlockLevel<T>& whole = levels[static_cast<std::size_t>(partition.last)];
  whole_blocks_kernel<size><<<grid(whole, 1), threads, 0, cuda.stream>>>(whole, s.zero_rows, partition, cuda.skip);
  for (int n = partition.last - 1; n >= 0; --n) {
    const BlockLevel<T>& l = levels[static_cast<std::size_t>(n)];
    substitute_blocks_kernel<size><<<grid(l, l.division.chunks()), threads, 0, cuda.stream>>>(l, cuda.skip);
  }
  check(cudaGetLastError());
}

}  // namespace

template <class T>
void run_blocks(const Cuda& cuda, const BlockPartition& partition, const BlockSolve<T>& s) {
  with_block_size(s.a.size, [&](auto size) { run_levels<size>(cuda, partition, s); });
}

KRILL_INSTANTIATE(BlockKernels, Cuda);

}  // namespace krill::detail
