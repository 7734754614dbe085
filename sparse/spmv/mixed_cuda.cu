#include <algorithm>
#include <bit>

#include "sparse/spmv/mixed_rows.hpp"
#include "sparse/spmv/row_kernel.cuh"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr int entries_a_lane = 2;  ///< of a mean row; lanes are rounded down, so up to four. Not varied.
};

/// load_streaming(), for one and two bytes, too.
template <class T>
__device__ T load_once(const T* from) {
  if constexpr (sizeof(T) == 1)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const signed char*>(from)));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const unsigned short*>(from)));
  else
    return load_streaming(from);
}

/// What one of `lanes` lanes adds up of entries [begin, end): begin + lane, begin + lane + lanes, ...
template <class Types, class T, class Offset>
__device__ auto lane_sum(const MixedRows<Types, T, Offset>& rows, std::int64_t begin, std::int64_t end, int lanes) {
  const auto& a = rows.p.a;
  typename MixedRows<Types, T, Offset>::Sum sum{};
  for (std::int64_t k = begin; k < end; k += RowTuning::flight * lanes) {
    std::int32_t columns[RowTuning::flight];
    T values[RowTuning::flight];
#pragma unroll
    for (int u = 0; u < RowTuning::flight; ++u) {
      const std::int64_t at = k + u * lanes;
      if (at >= end) continue;
      columns[u] = load_once(a.col_indices + at);
      values[u] = rows.places ? a.values[load_once(rows.places + at)] : load_once(a.values + at);
    }
#pragma unroll
    for (int u = 0; u < RowTuning::flight; ++u)
      if (k + u * lanes < end) sum += rows.term(values[u], columns[u]);
  }
  return sum;
}

// Threads: `lanes` neighboring ones a row, striding over the grid; whole warps stay together.
// Bytes: every entry, offset and y once, x as often as the caches miss; for transposes the places of values, too.
// Races: each y_i is written by one lane; nobody waits for anybody but its own warp.
template <class Types, class T, class Offset>
__global__ void __launch_bounds__(sum_threads) mixed_kernel(MixedRows<Types, T, Offset> rows, int lanes, Skip skip) {
  if (skip.now()) return;
  const auto& a = rows.p.a;
  const auto base = static_cast<std::int64_t>(a.base);
  const std::int64_t stride = std::int64_t(gridDim.x) * (sum_threads / lanes), rounds = (a.rows + stride - 1) / stride;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  std::int64_t i = (std::int64_t(blockIdx.x) * sum_threads + threadIdx.x) / lanes;
  for (std::int64_t round = 0; round < rounds; ++round, i += stride) {
    typename MixedRows<Types, T, Offset>::Sum sum{};
    if (i < a.rows) sum = lane_sum(rows, a.row_offsets[i] - base + lane, a.row_offsets[i + 1] - base, lanes);
    if (lanes > 1) sum = lanes_sum(sum, lanes);
    if (i < a.rows && lane == 0) rows.store(i, sum);
  }
}

/// A power of two up to a warp.
template <class View>
int lanes_for(const View& a) {
  const auto mean = static_cast<std::uint64_t>(a.nnz / std::max(a.rows, 1));
  return static_cast<int>(std::bit_floor(std::clamp<std::uint64_t>(mean / Tuning::entries_a_lane, 1, 32)));
}

template <class Product>
void run(const Cuda& cuda, Op op, const Product& p) {
  with_rows(cuda, op, p, [&](const auto& rows) {
    const int lanes = lanes_for(rows.p.a);
    mixed_kernel<<<grid_blocks(cuda, std::int64_t{rows.p.a.rows} * lanes), sum_threads, 0, cuda.stream>>>(rows, lanes,
                                                                                                          cuda.skip);
    check(cudaGetLastError());
  });
}

}  // namespace

template <class Types, class T, class Offset>
void run_product(const Cuda& cuda, Op op, const MixedProduct<Types, CsrView<const T, Offset>>& p) {
  run(cuda, op, p);
}
template <class Types, class T>
void run_product(const Cuda& cuda, Op op, const MixedProduct<Types, CooView<const T>>& p) {
  run(cuda, op, p);
}

template class detail::MixedKernels<Cuda>;

}  // namespace krill
