#include "solvers/precond/block_jacobi_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int threads = 64;   ///< 32 x 33 values of 16 bytes for each of two warps: within 48 KiB
  static constexpr int min_lanes = 4;  ///< that share a block. Not varied.
};

/// Values of a block in shared memory; rows are an odd number of values apart, so that columns meet no bank twice.
constexpr int row_distance(int dim) { return dim | 1; }

// Threads: a team of `lanes` (a power of two of at least dim) a block; lane i has column i, and row i where rows are
//   looked at. All lanes of a warp take the same steps. Bytes: the blocks, once in and once out.
// Races: a team works in memory of its own; events are least numbers, whatever the order of atomics.
template <class T>
__global__ void __launch_bounds__(Tuning::threads)
    invert_kernel(std::int64_t count, BlockLayout layout, T* blocks, std::int32_t* events, int lanes, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  const int dim = layout.dim, width = row_distance(dim), lane = static_cast<int>(threadIdx.x) % lanes,
            team = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t block = std::int64_t(blockIdx.x) * (Tuning::threads / lanes) + team;
  const bool mine = block < count && lane < dim;
  T* m = reinterpret_cast<T*>(memory) + std::int64_t{team} * dim * width;
  int swapped = lane;  // lane k remembers where pivot k came from
  bool finite = true, singular = false;
  if (mine)
    for (int j = 0; j < dim; ++j) {
      const T value = blocks[layout.at(block * dim + lane, j)];
      finite = finite && is_finite(value);
      m[lane * width + j] = value;
    }
  else if (lane < dim)
    for (int j = 0; j < dim; ++j) m[lane * width + j] = T(static_cast<real_t<T>>(lane == j ? 1 : 0));
  const unsigned others = lanes == 32 ? ~0u : ((1u << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes);
  const bool whole = (__ballot_sync(~0u, !finite) & others) == 0;
  __syncwarp();
  for (int k = 0; k < dim; ++k) {
    real_t<T> size = lane >= k && lane < dim ? pivot_size(m[lane * width + k]) : real_t<T>(-1);
    int pivot_row = lane;
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      const real_t<T> other = __shfl_xor_sync(~0u, size, offset, lanes);
      const int other_row = __shfl_xor_sync(~0u, pivot_row, offset, lanes);
      if (other > size || (other == size && other_row < pivot_row)) size = other, pivot_row = other_row;
    }
    if (lane == k) swapped = pivot_row;
    if (lane < dim) {  // rows k and pivot_row change places, a column a lane
      const T upper = m[k * width + lane];
      m[k * width + lane] = m[pivot_row * width + lane];
      m[pivot_row * width + lane] = upper;
    }
    __syncwarp();
    const T pivot = m[k * width + k];
    singular = singular || pivot == T(0);
    const T inverse = T(1) / pivot;
    __syncwarp();
    T row{};  // of the pivot, what the lane's column has there
    if (lane < dim) {
      row = (lane == k ? T(1) : m[k * width + lane]) * inverse;
      m[k * width + lane] = row;
    }
    for (int i = 0; i < dim; ++i) {
      if (i == k) continue;
      const T factor = m[i * width + k];
      __syncwarp();
      if (lane < dim) m[i * width + lane] = (lane == k ? T{} : m[i * width + lane]) - factor * row;
    }
    __syncwarp();
  }
  for (int k = dim - 1; k >= 0; --k) {
    const int with = __shfl_sync(~0u, swapped, k, lanes);
    if (lane < dim) {  // columns k and `with` change places, a row a lane
      const T left = m[lane * width + k];
      m[lane * width + k] = m[lane * width + with];
      m[lane * width + with] = left;
    }
  }
  __syncwarp();
  if (!mine) return;
  for (int j = 0; j < dim; ++j) {
    const T value = m[lane * width + j];
    finite = finite && is_finite(value);
    blocks[layout.at(block * dim + lane, j)] = value;
  }
  if (whole && singular) atomicMin(events + singular_block, static_cast<std::int32_t>(block));
  if (!finite) atomicMin(events + not_finite_block, static_cast<std::int32_t>(block));
}

}  // namespace

template <class T>
void invert_blocks(const Cuda& cuda, std::int64_t rows, BlockLayout layout, T* blocks, std::int32_t* events) {
  int lanes = Tuning::min_lanes;
  while (lanes < layout.dim) lanes *= 2;
  const int teams = Tuning::threads / lanes;
  const std::int64_t count = layout.blocks(rows);
  const auto grid = static_cast<unsigned>((count + teams - 1) / teams);
  const std::size_t shared = std::size_t(teams) * layout.dim * row_distance(layout.dim) * sizeof(T);
  invert_kernel<<<grid, Tuning::threads, shared, cuda.stream>>>(count, layout, blocks, events, lanes, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE_WITH_OFFSETS(BlockJacobiPasses, Cuda);

}  // namespace krill::detail
