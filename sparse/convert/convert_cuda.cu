#include <cub/device/device_scan.cuh>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/radix_sort.cuh"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/convert/transpose.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill {

using namespace detail;
namespace {

/// order[k] = k.
template <class Offset>
struct CountUp {
  using Sum = NoSum;
  Offset* order;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return order[k] = static_cast<Offset>(k), NoSum{}; }
};

struct Tuning {
  static constexpr int run = 8;        ///< entries of a thread, one after the other. Not varied.
  static constexpr int max_steps = 8;  ///< along rows without entries, before another bisection. Not varied.
};
constexpr int expand_run = Tuning::run;
constexpr int expand_tile = expand_run * sum_threads;  // entries that a block takes at a time

// Threads: a block takes a tile of entries and finds the rows of the first and the last of them; each thread looks for
//   the row of its first entry between the two and goes on from there. Shared memory brings neighbors side by side.
//   Entries beyond the last offset are the last row's.
// Bytes: the offsets once, 4 an entry. Races: the two rows and the tile's rows change between barriers.
template <class Offset>
__global__ void __launch_bounds__(sum_threads)
    expand_kernel(std::int32_t rows, std::int64_t nnz, const Offset* row_offsets, std::int32_t* row_indices,
                  std::int32_t first_row, Skip skip) {
  if (skip.now()) return;
  __shared__ std::int32_t ends[2];
  __shared__ std::int32_t found[expand_tile + sum_threads];  // a gap after each run: no conflicts of banks
  const auto place = [](int i) { return i + i / expand_run; };
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::int64_t first = std::int64_t{blockIdx.x} * expand_tile; first < nnz;
       first += std::int64_t{gridDim.x} * expand_tile) {
    const auto entries = static_cast<int>(min(std::int64_t{expand_tile}, nnz - first));
    if (thread < 2) ends[thread] = row_of_entry(row_offsets, rows, thread ? first + entries - 1 : first);
    __syncthreads();
    const Offset base = row_offsets[0];
    const auto find = [&](std::int32_t from, std::int64_t k) {
      return from + row_of_entry(row_offsets + from, ends[1] - from + 1, k - (row_offsets[from] - base));
    };
    const int mine = thread * expand_run, my_end = min(mine + expand_run, entries);
    if (mine < my_end) {
      std::int32_t row = find(ends[0], first + mine);
      std::int64_t end = row_offsets[row + 1] - base;
      for (int i = mine; i < my_end; ++i) {
        for (int steps = 0; first + i >= end && row < ends[1]; ++steps) {
          row = steps < Tuning::max_steps ? row + 1 : find(row, first + i);
          end = row_offsets[row + 1] - base;
        }
        found[place(i)] = row;
      }
    }
    __syncthreads();
    for (int i = thread; i < entries; i += sum_threads) row_indices[first + i] = first_row + found[place(i)];
  }
}

/// Of counts that one block adds up.
template <class Offset>
struct ScanTuning {
  static constexpr int threads = 1024;                               ///< Not varied.
  static constexpr int run = 32 / static_cast<int>(sizeof(Offset));  ///< neighboring counts of a thread. Not varied.
  static constexpr int most = threads * run;
};

// Threads: one block; a thread has neighboring counts. Shared memory brings those of neighboring threads side by side.
// Bytes: counts and offsets once. Races: barriers between steps.
template <class Offset>
__global__ void __launch_bounds__(ScanTuning<Offset>::threads)
    scan_kernel(int n, const Offset* counts, Offset* offsets) {
  using Tuning = ScanTuning<Offset>;
  constexpr int threads = Tuning::threads, run = Tuning::run;
  __shared__ Offset of_warps[threads / 32], shared[Tuning::most + threads];  // a gap after each run: other banks
  const auto place = [](int i) { return i + i / run; };
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  for (int i = thread; i < Tuning::most; i += threads) shared[place(i)] = i < n ? counts[i] : 0;
  __syncthreads();
  Offset sum = 0;
#pragma unroll
  for (int i = 0; i < run; ++i) sum += shared[place(thread * run + i)];
  const auto add_before = [lane](Offset value) {
    for (int apart = 1; apart < 32; apart *= 2)
      if (const Offset other = __shfl_up_sync(~0u, value, apart); lane >= apart) value += other;
    return value;
  };
  const Offset to_here = add_before(sum);
  if (lane == 31) of_warps[thread / 32] = to_here;
  __syncthreads();
  const Offset warps_to_here = add_before(of_warps[lane]),
               before_warp = __shfl_sync(~0u, warps_to_here, thread / 32 - 1);
  Offset before = to_here - sum + (thread < 32 ? 0 : before_warp);
#pragma unroll
  for (int i = 0; i < run; ++i) shared[place(thread * run + i)] = before += shared[place(thread * run + i)];
  __syncthreads();
  if (thread == 0) offsets[0] = 0;
  for (int i = thread; i < n; i += threads) offsets[i + 1] = shared[place(i)];
}

/// Entry k of the transpose from entry order[k] of the matrix.
template <class T, class Offset>
struct GatherTransposed {
  using Sum = NoSum;
  const Offset* order;
  const std::int32_t* row_indices;
  const T* values;
  bool conjugate;
  std::int32_t* out_col_indices;
  T* out_values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    out_col_indices[k] = row_indices[order[k]];
    if (values) out_values[k] = conj_if(conjugate, values[order[k]]);
    return {};
  }
};

}  // namespace

// By buckets, or a stable radix sort of the entries by column, on as many bits as the columns need: rows stay
// ascending.
template <class T, class Offset>
void csr_transpose(const Cuda& cuda, const CsrView<const T, Offset>& a, bool conjugate, const CsrView<T, Offset>& out,
                   Offset* permutation, bool asynchronous) {
  if (!asynchronous && transpose_by_buckets(cuda, a, conjugate, out, permutation)) return;
  const auto n = static_cast<std::size_t>(a.nnz);
  Frame frame(cuda);
  auto* offsets = frame.take<Offset>(static_cast<std::size_t>(a.rows) + 1);
  auto *row_indices = frame.take<std::int32_t>(n), *sorted_keys = frame.take<std::int32_t>(n);
  const std::int32_t* keys = a.col_indices;
  auto *order = frame.take<Offset>(n), *sorted_order = permutation ? permutation : frame.take<Offset>(n);
  const auto base = static_cast<std::int32_t>(a.base);
  run_pass(cuda, a.rows + std::int64_t(1), ShiftIndices<Offset>{a.row_offsets, -base, offsets});
  expand_offsets(cuda, a.rows, a.nnz, offsets, row_indices);
  run_pass(cuda, a.nnz, CountUp<Offset>{order});
  if (a.base == IndexBase::one) {
    auto* zero_based = frame.take<std::int32_t>(n);
    run_pass(cuda, a.nnz, ShiftIndices<std::int32_t>{a.col_indices, -base, zero_based});
    keys = zero_based;
  }
  const std::int64_t end = a.cols + std::int64_t{asynchronous};  // a tail's entries, of column `cols`, go to the end
  sort_by_key(cuda, frame, a.nnz, end, keys, sorted_keys, order, sorted_order);
  compress_rows(cuda, a.cols, a.nnz, sorted_keys, out.row_offsets);
  run_pass(cuda, a.nnz,
           GatherTransposed<T, Offset>{sorted_order, row_indices, a.values, conjugate, out.col_indices, out.values});
}

template <class Offset>
void expand_offsets(const Cuda& cuda, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                    std::int32_t* row_indices, IndexBase base) {
  if (rows == 0 || nnz == 0) return;
  expand_kernel<<<grid_blocks(cuda, nnz, expand_tile), sum_threads, 0, cuda.stream>>>(
      rows, nnz, row_offsets, row_indices, static_cast<std::int32_t>(base), cuda.skip);
  check(cudaGetLastError());
}

template <class Offset>
void compress_rows(const Cuda& cuda, std::int32_t rows, std::int64_t nnz, const std::int32_t* row_indices,
                   Offset* row_offsets, IndexBase base) {
  Frame frame(cuda);
  auto* left = frame.take<std::int32_t>(1);
  device::fill_zero(cuda, left, sizeof *left);
  run_pass(cuda, nnz + 1, CompressRows<Offset>{row_indices, nnz, rows, static_cast<int>(base), row_offsets, left});
  run_pass(cuda, (rows + std::int64_t{1}) / empty_rows_a_block,
           FillEmptyRows<Offset>{row_indices, nnz, static_cast<int>(base), row_offsets, left});
}

template <class Offset>
void scan_counts(const Cuda& cuda, std::int64_t n, const Offset* counts, Offset* offsets) {
  if (n <= ScanTuning<Offset>::most) {  // else three kernels, which take longer to start than to run
    scan_kernel<<<1, ScanTuning<Offset>::threads, 0, cuda.stream>>>(static_cast<int>(n), counts, offsets);
    check(cudaGetLastError());
    return;
  }
  Frame frame(cuda);
  std::size_t bytes = 0;
  device::fill_zero(cuda, offsets, sizeof(Offset));
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, counts, offsets + 1, n, cuda.stream));
  check(cub::DeviceScan::InclusiveSum(frame.take<char>(bytes), bytes, counts, offsets + 1, n, cuda.stream));
}

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(ConvertPasses, Cuda);
template class OffsetKernels<std::int32_t, Cuda>;
template class OffsetKernels<std::int64_t, Cuda>;

}  // namespace krill::detail
