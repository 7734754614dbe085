#include <algorithm>

#include "solvers/grid_barrier.cuh"
#include "solvers/multigrid/dense_inverse.hpp"
#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int elimination_threads = 256;  ///< of a block. Not varied.
  static constexpr int product_threads = 128;      ///< of a block, which has 32 rows: four threads a row. Not varied.
};

/// What another multiprocessor may have written since this one read the place: past L1.
template <class W>
__device__ W load_from_l2(const W* from) {
  if constexpr (is_complex<W>) {
    const auto* const parts = reinterpret_cast<const double*>(from);
    return {__ldcg(parts), __ldcg(parts + 1)};
  } else {
    return __ldcg(from);
  }
}

/// What the blocks of an elimination share: room for a pivot of each, and how many have arrived at barriers, from 0 on.
struct EliminationScratch {
  Pivot* candidates;
  unsigned* arrivals;
};

// Gauss-Jordan elimination, a column after the other, from one matrix into the other and back.
// Threads: blocks that are all resident; a block has every gridDim.x-th row, whose entries lie along its threads.
// Bytes: the matrix n times, from and to L2. Races: a barrier of the grid between columns; a block writes its rows and
//   its candidate alone, and reads what others wrote past L1.
template <class W>
__global__ void __launch_bounds__(Tuning::elimination_threads)
    eliminate_kernel(std::int32_t n, W* from, W* to, Pivot* pivots, DenseFacts* facts, EliminationScratch scratch,
                     Skip skip) {
  __shared__ Pivot pivot;
  if (skip.now()) return;
  const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x),
            blocks = static_cast<int>(gridDim.x);
  const double smallest = facts->smallest;
  GridBarrier barrier(scratch.arrivals);
  if (thread == 0) pivot = pivots[0];
  __syncthreads();
  int singular = 0;
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t row = pivot.row;
    const bool exists = pivot.size > smallest;
    const W inverse = exists ? W(1) / load_from_l2(from + std::int64_t{row} * n + k) : W{};
    singular += !exists;
    Pivot next;
    for (std::int32_t j = thread; j < n; j += Tuning::elimination_threads) {
      const W pivot_entry = (j == k ? W(1) : load_from_l2(from + std::int64_t{row} * n + j)) * inverse;
      for (std::int32_t i = block; i < n; i += blocks) {
        const std::int64_t at = std::int64_t{i == k ? row : i == row ? k : i} * n;  // the two rows change places
        W value = pivot_entry;
        if (i != k) {
          value = j == k ? W{} : load_from_l2(from + at + j);
          if (exists) value -= load_from_l2(from + at + k) * pivot_entry;
        }
        to[std::int64_t{i} * n + j] = value;
        if (j == k + 1 && i > k) next += {sqrt(squared(value)), i};
      }
    }
    Pivot* const candidates = scratch.candidates + (k % 2) * blocks;  // those of the last column may be being read
    if (thread == (k + 1) % Tuning::elimination_threads) candidates[block] = next;
    barrier.wait();
    if (thread < 32) {
      Pivot best;
      for (int b = thread; b < blocks; b += 32) best += load_through(candidates + b);
      best = lanes_sum(best, 32);
      if (thread == 0) {
        pivot = best;
        if (block == 0) pivots[k + 1] = best;
      }
    }
    __syncthreads();
    W* const made = to;
    to = from, from = made;
  }
  if (block == 0 && thread == 0) facts->singular += singular;
}

// Threads: four a row, 32 rows a block; lanes of a warp read rows that lie side by side, and each of the four warps has
// a quarter of the columns. Bytes: the inverse once, b through L2, x. Races: none; a row's four parts are added in
// order.
template <class T>
__global__ void __launch_bounds__(Tuning::product_threads)
    dense_product_kernel(std::int32_t n, const T* inverse, const T* b, T* x, Skip skip) {
  __shared__ __align__(16) unsigned char memory[Tuning::product_threads * sizeof(T)];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, part = static_cast<int>(threadIdx.x) / 32,
            row = static_cast<int>(blockIdx.x) * 32 + lane, quarter = (n + 3) / 4;
  T* parts = reinterpret_cast<T*>(memory);
  T sum{};
  if (row < n) {
    const int end = min(n, (part + 1) * quarter);
#pragma unroll 8
    for (int j = part * quarter; j < end; ++j) sum += inverse[row + std::int64_t{j} * n] * b[j];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (part == 0 && row < n) x[row] = parts[lane] + parts[lane + 32] + parts[lane + 64] + parts[lane + 96];
}

}  // namespace

template <class W>
W* invert_dense(const Cuda& cuda, std::int32_t n, W* work, W* other, Pivot* pivots, DenseFacts* facts) {
  if (n == 0) return work;
  const int blocks = std::min(n, cuda.multiprocessors);
  Frame frame(cuda);
  EliminationScratch scratch{frame.take<Pivot>(2 * static_cast<std::size_t>(blocks)), take_arrivals(cuda, frame)};
  void* arguments[] = {&n, &work, &other, &pivots, &facts, &scratch, const_cast<Skip*>(&cuda.skip)};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(eliminate_kernel<W>),
                                    dim3(static_cast<unsigned>(blocks)), dim3(Tuning::elimination_threads), arguments,
                                    0, cuda.stream));
  return n % 2 == 0 ? work : other;
}

template <class T>
void dense_product(const Cuda& cuda, std::int32_t n, const T* inverse, const T* b, T* x) {
  if (n == 0) return;
  dense_product_kernel<<<(n + 31) / 32, Tuning::product_threads, 0, cuda.stream>>>(n, inverse, b, x, cuda.skip);
  check(cudaGetLastError());
}

template <class Value, class T = kernel_t<Value>>
struct DenseCuda {
  static constexpr std::tuple list{instance<void(const Cuda&, std::int32_t, const T*, const T*, T*)>(dense_product)};
};
KRILL_INSTANTIATE(DenseCuda);
template double* invert_dense(const Cuda&, std::int32_t, double*, double*, Pivot*, DenseFacts*);
template Complex<double>* invert_dense(const Cuda&, std::int32_t, Complex<double>*, Complex<double>*, Pivot*,
                                       DenseFacts*);

KRILL_INSTANTIATE(MultigridPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(MultigridSetupPasses, Cuda);
KRILL_INSTANTIATE(DensePasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(DenseSetupPasses, Cuda);

}  // namespace krill::detail
