#include <algorithm>

#include "solvers/multigrid/dense_inverse.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int panel_threads = 512;    ///< at most, of the block that eliminates a panel. Not varied.
  static constexpr int update_threads = 128;   ///< of a block that takes the other columns along. Not varied.
  static constexpr int update_rows = 4;        ///< of such a block. Not varied.
  static constexpr int product_threads = 128;  ///< of a block; a warp has a row. Not varied.
};

/// Some neighboring columns of a matrix by rows that are eliminated together.
template <class W>
struct Panel {
  std::int32_t n, first, width;
  const W* from;
  W* factors;              ///< by columns: what each row is made of, of the rows that the pivots stand in
  std::int32_t* exchange;  ///< which row of `from` stands in each row afterwards
  std::int32_t* sources;   ///< the same since the first panel
  DenseFacts* facts;
};

/// A row of a panel in registers, and which row it was.
template <class W, int width>
struct alignas(16) PanelRow {
  W value[width];
  std::int32_t was;
};

/// A row that can be the pivot's: the first one of the greatest key of a warp, or of a block, in all lanes.
struct PanelCandidate {
  unsigned key;  ///< grows with the modulus in single precision
  std::int32_t row;

  __device__ static PanelCandidate none() { return {0, INT32_MAX}; }

  __device__ PanelCandidate best_of_warp() const {
    const unsigned best = __reduce_max_sync(~0u, key);
    return {best, __reduce_min_sync(~0u, key == best ? row : INT32_MAX)};
  }
};
__device__ double modulus(double value) { return fabs(value); }
__device__ double modulus(Complex<double> value) { return sqrt(squared(value)); }

// Gauss-Jordan elimination of a panel of up to `columns` columns, with pivots from rows that have had none. The column
// whose turn it is stands first; what it becomes is put last, so that after `columns` steps all stand where they were,
// and the loop over them, which is not unrolled, stays in the cache of instructions.
// Threads: one block, of no more than need be; a thread has `rows` rows in registers, which are as far apart as there
//   are threads. Each warp offers its best row in shared memory; then all threads read the best of these, and
//   eliminate.
// Bytes: the panel, from and to L2.
// Races: what is offered in a step is read after its barrier, and written over after the barrier of the next one.
template <class W, int rows, int columns>
__global__ void __launch_bounds__(Tuning::panel_threads) panel_kernel(Panel<W> p, Skip skip) {
  using Row = PanelRow<W, columns>;
  constexpr int max_warps = Tuning::panel_threads / 32;
  __shared__ PanelCandidate candidates[2][max_warps];
  __shared__ __align__(16) unsigned char memory[2 * (max_warps + 1) * sizeof(Row)];
  if (skip.now()) return;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32,
            threads = static_cast<int>(blockDim.x);
  const double smallest = p.facts->smallest;
  Row mine[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int32_t i = thread + r * threads;
    mine[r].was = i;
#pragma unroll
    for (int c = 0; c < columns; ++c)
      mine[r].value[c] = i < p.n && c < p.width ? p.from[std::int64_t{i} * p.n + p.first + c] : W{};
  }
  int singular = 0;
#pragma unroll 1
  for (int k = 0; k < p.width; ++k) {
    Row* const offered = reinterpret_cast<Row*>(memory) + k % 2 * (max_warps + 1);  // by each warp; then the own row
    const std::int32_t own = p.first + k;
    PanelCandidate candidate = PanelCandidate::none();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int32_t i = thread + r * threads;
      if (i < own || i >= p.n) continue;
      const auto size = static_cast<float>(modulus(mine[r].value[0]));
      const unsigned key = size > 0 ? __float_as_uint(size) : 0;
      if (candidate.row == INT32_MAX || key > candidate.key) candidate = {key, i};
    }
    candidate = candidate.best_of_warp();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int32_t i = thread + r * threads;
      if (i == candidate.row) offered[warp] = mine[r];
      if (i == own) offered[max_warps] = mine[r];
    }
    if (lane == 0) candidates[k % 2][warp] = candidate;
    __syncthreads();
    const PanelCandidate of_lane = lane < threads / 32 ? candidates[k % 2][lane] : PanelCandidate::none();
    const std::int32_t pivot = of_lane.best_of_warp().row;
    const Row& pivot_row = offered[__ffs(static_cast<int>(__ballot_sync(~0u, of_lane.row == pivot))) - 1];
    const W value = pivot_row.value[0];
    const bool exists = modulus(value) > smallest;
    const W inverse = exists ? W(1) / value : W{};
    singular += !exists;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int32_t i = thread + r * threads;
      if (pivot != own && i == pivot) mine[r] = offered[max_warps];
      const W factor = mine[r].value[0] * inverse;
#pragma unroll
      for (int c = 1; c < columns; ++c) mine[r].value[c - 1] = mine[r].value[c] - factor * pivot_row.value[c];
      mine[r].value[columns - 1] = -factor;
      if (i != own) continue;
      mine[r].was = pivot_row.was;
#pragma unroll
      for (int c = 1; c < columns; ++c) mine[r].value[c - 1] = pivot_row.value[c] * inverse;
      mine[r].value[columns - 1] = inverse;
    }
  }
#pragma unroll 1
  for (int k = p.width; k < columns; ++k)
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int c = 0; c < columns; ++c) mine[r].value[c] = mine[r].value[(c + 1) % columns];
  std::int32_t sources[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int32_t i = thread + r * threads;
    if (i >= p.n) continue;
    sources[r] = p.sources[mine[r].was];
    p.exchange[i] = mine[r].was;
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (c < p.width) p.factors[std::int64_t{c} * p.n + i] = mine[r].value[c];
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (const std::int32_t i = thread + r * threads; i < p.n) p.sources[i] = sources[r];
  if (thread == 0) p.facts->singular += singular;
}

// What the elimination of a panel makes of all columns: to = factors (rows of the pivots), plus the row itself where no
// pivot stands in it.
// Threads: a block has four rows, whose columns lie along its threads. Bytes: the matrix from and to L2, rows of pivots
//   once a block. Races: none, from and to are two matrices.
template <class W, int columns>
__global__ void __launch_bounds__(Tuning::update_threads) update_kernel(Panel<W> p, W* to, Skip skip) {
  constexpr int rows = Tuning::update_rows;
  if (skip.now()) return;
  const std::int32_t first_row = static_cast<std::int32_t>(blockIdx.x) * rows,
                     j = static_cast<std::int32_t>(blockIdx.y * Tuning::update_threads + threadIdx.x);
  if (j >= p.n) return;
  const bool in_panel = j >= p.first && j < p.first + p.width;
  W values[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::int32_t i = min(first_row + r, p.n - 1);
    if (in_panel)
      values[r] = p.factors[std::int64_t{j - p.first} * p.n + i];
    else
      values[r] = i >= p.first && i < p.first + p.width ? W{} : p.from[std::int64_t{p.exchange[i]} * p.n + j];
  }
  if (!in_panel) {
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      if (c >= p.width) continue;
      const W entry = p.from[std::int64_t{p.exchange[p.first + c]} * p.n + j];
#pragma unroll
      for (int r = 0; r < rows; ++r)
        values[r] += p.factors[std::int64_t{c} * p.n + min(first_row + r, p.n - 1)] * entry;
    }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (first_row + r < p.n) to[std::int64_t{first_row + r} * p.n + j] = values[r];
}

/// Where a thread of a panel has `rows` rows: as many columns as registers hold.
template <class W, int rows>
W* invert_by_panels(const Cuda& cuda, std::int32_t n, W* work, W* other, std::int32_t* sources, DenseFacts* facts) {
  constexpr int columns = 32 / (rows * static_cast<int>(sizeof(W) / sizeof(double)));
  Frame frame(cuda);
  Panel<W> panel{n,
                 0,
                 0,
                 work,
                 frame.take<W>(static_cast<std::size_t>(n) * columns),
                 frame.take<std::int32_t>(static_cast<std::size_t>(n)),
                 sources,
                 facts};
  const dim3 blocks(static_cast<unsigned>((n + Tuning::update_rows - 1) / Tuning::update_rows),
                    static_cast<unsigned>((n + Tuning::update_threads - 1) / Tuning::update_threads));
  const int threads = (n + 32 * rows - 1) / (32 * rows) * 32;
  for (; panel.first < n; panel.first += columns) {
    panel.width = n - panel.first < columns ? n - panel.first : columns;
    panel.from = work;
    panel_kernel<W, rows, columns><<<1, threads, 0, cuda.stream>>>(panel, cuda.skip);
    check(cudaGetLastError());
    update_kernel<W, columns><<<blocks, Tuning::update_threads, 0, cuda.stream>>>(panel, other, cuda.skip);
    check(cudaGetLastError());
    std::swap(work, other);
  }
  return work;
}

// Threads: a warp a row, whose entries lie along its lanes. Bytes: the inverse once, b through L1, x. Races: none; the
// parts of a row are added in one order.
template <class T>
__global__ void __launch_bounds__(Tuning::product_threads)
    dense_product_kernel(std::int32_t n, const T* inverse, const T* b, T* x, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32,
            row = static_cast<int>(blockIdx.x) * (Tuning::product_threads / 32) + static_cast<int>(threadIdx.x) / 32;
  if (row >= n) return;
  T sum{};
#pragma unroll 8
  for (int j = lane; j < n; j += 32) sum += inverse[std::int64_t{row} * n + j] * b[j];
  sum = lanes_sum(sum, 32);
  if (lane == 0) x[row] = sum;
}

}  // namespace

template <class W>
W* invert_dense(const Cuda& cuda, std::int32_t n, W* work, W* other, std::int32_t* sources, DenseFacts* facts) {
  if (n <= 2 * Tuning::panel_threads) return invert_by_panels<W, 2>(cuda, n, work, other, sources, facts);
  return invert_by_panels<W, 4>(cuda, n, work, other, sources, facts);
}

template <class T>
void dense_product(const Cuda& cuda, std::int32_t n, const T* inverse, const T* b, T* x) {
  if (n == 0) return;
  constexpr int rows = Tuning::product_threads / 32;
  dense_product_kernel<<<(n + rows - 1) / rows, Tuning::product_threads, 0, cuda.stream>>>(n, inverse, b, x, cuda.skip);
  check(cudaGetLastError());
}

template <class Value, class T = kernel_t<Value>>
struct DenseCuda {
  static constexpr std::tuple list{instance<void(const Cuda&, std::int32_t, const T*, const T*, T*)>(dense_product)};
};
KRILL_INSTANTIATE(DenseCuda);
template double* invert_dense(const Cuda&, std::int32_t, double*, double*, std::int32_t*, DenseFacts*);
template Complex<double>* invert_dense(const Cuda&, std::int32_t, Complex<double>*, Complex<double>*, std::int32_t*,
                                       DenseFacts*);

KRILL_INSTANTIATE(DensePasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(DenseSetupPasses, Cuda);

}  // namespace krill::detail
