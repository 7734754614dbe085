#include "solvers/multigrid/dense_inverse.hpp"
#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int product_threads = 128;  ///< of a block, which has 32 rows: four threads a row. Not varied.
};

/// Column k of Gauss-Jordan elimination, from one matrix into another, and the pivot of column k + 1. Over n^2 entries.
template <class W>
struct EliminateColumn {
  using Sum = Pivot;
  std::int32_t n, k;
  const W* from;
  W* to;
  Pivot* pivots;
  DenseFacts* facts;
  std::int32_t row{};  ///< of the pivot
  bool exists{};
  W inverse{};

  constexpr bool begin() {
    row = pivots[k].row;
    exists = pivots[k].size > facts->smallest;
    inverse = exists ? W(1) / from[std::int64_t{row} * n + k] : W{};
    return true;
  }
  constexpr Sum entry(std::int64_t e) const {
    const auto i = static_cast<std::int32_t>(e / n), j = static_cast<std::int32_t>(e % n);
    const std::int32_t at = i == k ? row : i == row ? k : i;  // rows k and `row` change places
    const W pivot_entry = j == k ? W(1) : from[std::int64_t{row} * n + j];
    W value;
    if (i == k) {
      value = pivot_entry * inverse;
    } else {
      value = j == k ? W{} : from[std::int64_t{at} * n + j];
      if (exists) value -= from[std::int64_t{at} * n + k] * (pivot_entry * inverse);
    }
    to[e] = value;
    if (j != k + 1 || i <= k) return {};
    return {sqrt(squared(value)), i};
  }
  constexpr void finish(const Sum& sum) const {
    pivots[k + 1] = sum;
    facts->singular += !exists;
  }
};

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
  for (std::int32_t k = 0; k < n; ++k) {
    run_pass(cuda, std::int64_t{n} * n, EliminateColumn<W>{n, k, work, other, pivots, facts});
    std::swap(work, other);
  }
  return work;
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
