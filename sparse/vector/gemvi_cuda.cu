// Dense matrix times sparse vector: lanes lie along the lines of A's memory where these are columns of op(A), and along
// the entries of x where they are rows.
#include <bit>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/vector/gemvi_parts.hpp"

namespace krill {

using namespace detail;
namespace {

// Reasoned, not varied.
struct Tuning {
  static constexpr int flight = 8;  ///< entries of A that a thread asks for before it uses the first
  static constexpr int max_parts = 256;
  static constexpr int min_lanes = 8;       ///< along a column: 32 bytes or more
  static constexpr int column_bytes = 128;  ///< that lanes along a column need not exceed
  static constexpr int max_lanes = 32;      ///< along x
  static constexpr int resident_share = 2;  ///< half of the threads that fit have enough on its way
  static constexpr int entries_a_lane = 2;  ///< of x; lanes are rounded down, so up to four
};
/// Rows that a thread has where there are threads enough.
template <class T>
constexpr int max_held = 16 / sizeof(T);

// Threads: a block has held x lanes rows and a part of x; its teams of `lanes` threads share the part, and the first
//   team adds what they found, in order.
// Bytes: the columns of A that x names, once and side by side; x once for each block, y once.
// Races: what a row sums up in a block is one thread's after the barrier.
template <int held, class T>
__global__ void __launch_bounds__(sum_threads) columns_kernel(GemviParts<T> parts, int lanes, Skip skip) {
  __shared__ alignas(16) unsigned char memory[held * sum_threads * sizeof(T)];
  if (skip.now()) return;
  T* const sums = reinterpret_cast<T*>(memory);
  const DenseView<const T>& a = parts.p.a;
  const SparseVectorView<const T>& x = parts.p.x;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes,
            teams = sum_threads / lanes, part = static_cast<int>(blockIdx.y);
  const std::int64_t first = std::int64_t{blockIdx.x} * (held * lanes) + lane;
  const T* rows[held];
#pragma unroll
  for (int h = 0; h < held; ++h) rows[h] = a.values + min(first + h * lanes, std::int64_t{a.rows} - 1);
  const std::int64_t share = (parts.length + teams - 1) / teams, begin = parts.begin(part) + team * share,
                     end = min(begin + share, parts.end(part));
  T mine[held] = {};
  constexpr int batch = Tuning::flight / held;
  for (std::int64_t k = begin; k < end; k += batch) {
    T entry[batch][held];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (k + u >= end) continue;
      const std::int64_t column = x.index(k + u) * a.leading_dimension;
#pragma unroll
      for (int h = 0; h < held; ++h) entry[u][h] = rows[h][column];
    }
#pragma unroll
    for (int u = 0; u < batch; ++u)
      if (k + u < end) {
#pragma unroll
        for (int h = 0; h < held; ++h) mine[h] += parts.term(entry[u][h], k + u);
      }
  }
  if (teams > 1) {
#pragma unroll
    for (int h = 0; h < held; ++h) sums[h * sum_threads + threadIdx.x] = mine[h];
    __syncthreads();
    if (team > 0) return;
    for (int t = 1; t < teams; ++t)
#pragma unroll
      for (int h = 0; h < held; ++h) mine[h] += sums[h * sum_threads + t * lanes + lane];
  }
#pragma unroll
  for (int h = 0; h < held; ++h)
    if (first + h * lanes < a.rows) parts.store(first + h * lanes, part, mine[h]);
}

// Threads: `lanes` neighboring ones of a warp have `held` rows and a part of x. Whole warps stay together.
// Bytes: 32 for each entry of A that x names, less where they are neighbors; x as often as the caches miss, y once.
// Races: the sum of a row over a part is one lane's.
template <int held, class T>
__global__ void __launch_bounds__(sum_threads) rows_kernel(GemviParts<T> parts, int lanes, Skip skip) {
  if (skip.now()) return;
  const DenseView<const T>& a = parts.p.a;
  const SparseVectorView<const T>& x = parts.p.x;
  const int lane = static_cast<int>(threadIdx.x) % lanes, part = static_cast<int>(blockIdx.y);
  const std::int64_t first = (std::int64_t{blockIdx.x} * sum_threads + threadIdx.x) / lanes * held;
  const T* rows[held];
#pragma unroll
  for (int h = 0; h < held; ++h) rows[h] = a.values + min(first + h, std::int64_t{a.rows} - 1) * a.leading_dimension;
  const std::int64_t end = parts.end(part);
  T mine[held] = {};
#pragma unroll Tuning::flight / held
  for (std::int64_t k = parts.begin(part) + lane; k < end; k += lanes) {
    const std::int32_t column = x.index(k);
#pragma unroll
    for (int h = 0; h < held; ++h) mine[h] += parts.term(rows[h][column], k);
  }
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const T sum = lanes_sum(mine[h], lanes);
    if (lane == 0 && first + h < a.rows) parts.store(first + h, part, sum);
  }
}

// Threads: `lanes` neighboring ones of a warp have a row. Bytes: the sums of all parts once, y once.
// Races: each y_i is written by one lane. Whole warps stay together.
template <class T>
__global__ void __launch_bounds__(sum_threads) add_parts_kernel(GemviParts<T> parts, int lanes, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t i = (std::int64_t{blockIdx.x} * sum_threads + threadIdx.x) / lanes;
  T sum{};
  if (i < parts.p.a.rows)
    for (int part = lane; part < parts.count; part += lanes) sum += parts.sums[i * parts.count + part];
  sum = lanes_sum(sum, lanes);
  if (lane == 0 && i < parts.p.a.rows) parts.put(i, sum);
}

/// `wanted` between powers of two, as the next one below or above.
int floor_power(std::int64_t wanted, int low, int high) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp<std::int64_t>(wanted, low, high))));
}
int ceil_power(std::int64_t wanted, int low, int high) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::clamp<std::int64_t>(wanted, low, high))));
}

/// Threads that the device holds at a time.
std::int64_t resident_threads(const Cuda& cuda) {
  return std::int64_t{cuda.multiprocessors} * sum_blocks_per_multiprocessor * sum_threads;
}

template <auto kernel, class T>
void launch(const Cuda& cuda, const GemviParts<T>& parts, std::int64_t blocks, int lanes) {
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(parts.count));
  kernel<<<grid, sum_threads, 0, cuda.stream>>>(parts, lanes, cuda.skip);
  check(cudaGetLastError());
}

/// Teams first: their sums stay in the block. Where x has few entries a thread asks for all of its at once.
template <int held, class T>
void run_columns(const Cuda& cuda, Frame& frame, GemviParts<T>& parts) {
  const std::int64_t rows = parts.p.a.rows,
                     wanted = std::clamp<std::int64_t>(resident_threads(cuda) / Tuning::resident_share * held / rows, 1,
                                                       1 + parts.p.x.nnz / Tuning::flight);
  constexpr int enough = std::max(Tuning::min_lanes, Tuning::column_bytes / static_cast<int>(sizeof(T)));
  const int fewest = ceil_power(rows, Tuning::min_lanes, enough), teams = ceil_power(wanted, 1, sum_threads / fewest),
            lanes = sum_threads / teams;
  parts.split(frame, std::clamp<std::int64_t>(wanted / teams, 1, Tuning::max_parts));
  launch<columns_kernel<held, T>>(cuda, parts, ceil_div(rows, held * lanes), lanes);
}

template <int held, class T>
void run_rows(const Cuda& cuda, Frame& frame, GemviParts<T>& parts, int lanes) {
  const std::int64_t threads = ceil_div(parts.p.a.rows, held) * lanes;
  parts.split(frame, std::clamp<std::int64_t>(
                         resident_threads(cuda) / threads, 1,
                         std::min<std::int64_t>(1 + parts.p.x.nnz / (lanes * Tuning::flight), Tuning::max_parts)));
  launch<rows_kernel<held, T>>(cuda, parts, ceil_div(threads, sum_threads), lanes);
}

}  // namespace

template <class T>
void run_gemvi(const Cuda& cuda, Op op, const GemviCall<T>& call) {
  GemviParts<T> parts(op, call);
  const std::int64_t rows = parts.p.a.rows, enough = resident_threads(cuda) * max_held<T>;
  if (rows == 0) return;
  Frame frame(cuda);
  if (parts.p.a.order == Order::column_major) {
    rows >= enough ? run_columns<max_held<T>>(cuda, frame, parts) : run_columns<1>(cuda, frame, parts);
  } else {
    const int lanes = floor_power(parts.p.x.nnz / Tuning::entries_a_lane, 1, Tuning::max_lanes);
    (rows * lanes >= enough) ? run_rows<max_held<T>>(cuda, frame, parts, lanes)
                             : run_rows<1>(cuda, frame, parts, lanes);
  }
  if (parts.count == 1) return;
  const int lanes = ceil_power(parts.count, 1, Tuning::max_lanes);
  add_parts_kernel<<<static_cast<unsigned>(ceil_div(rows * lanes, sum_threads)), sum_threads, 0, cuda.stream>>>(
      parts, lanes, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE(detail::GemviKernels, Cuda);

}  // namespace krill
