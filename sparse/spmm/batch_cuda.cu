#include <algorithm>
#include <bit>
#include <limits>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmm/batch.hpp"
#include "sparse/spmm/tiling.hpp"

namespace krill::detail {
namespace {

constexpr int batch_threads = 256;
/// Entries of a row in the mean for a lane, where it has so many columns: with more, what lanes add up and hand to one
/// another at the end costs more than the way along the row. Not varied.
constexpr int entries_a_lane(int columns) { return columns == 1 ? 2 : 8; }

/// A row of a matrix of the batch; no entries, and not `there`, behind the last one.
template <class T, class Offset>
struct BatchRow {
  std::int32_t member = 0, row = 0;
  Offset begin = 0, end = 0;
  bool there;

  __device__ BatchRow(const ProductBatch<T, Offset>& batch, std::int64_t number) {
    const auto& a = batch.first.a;
    const std::int64_t all = batch.count * a.rows;
    there = number < all;
    if (!there) return;
    if (all <= std::numeric_limits<std::int32_t>::max()) {  // a division of 64 bits takes several times as long
      member = static_cast<std::int32_t>(number) / a.rows, row = static_cast<std::int32_t>(number) % a.rows;
    } else {
      member = static_cast<std::int32_t>(number / a.rows), row = static_cast<std::int32_t>(number % a.rows);
    }
    const Offset* const offsets = a.row_offsets + member * batch.offsets + row;
    begin = offsets[0] - static_cast<Offset>(a.base), end = offsets[1] - static_cast<Offset>(a.base);
  }
  __device__ Offset length() const { return end - begin; }

  /// That of a lane of the warp, in all its lanes.
  __device__ BatchRow of_lane(int lane) const { return shuffle_from(*this, lane); }
};

/// A row of C, by `lanes` lanes side by side, all of which call it; `lane` is the number among them.
template <int columns, class T, class Offset>
__device__ __forceinline__ void multiply_row(const ProductBatch<T, Offset>& batch, const BatchRow<T, Offset>& r,
                                             int lane, int lanes) {
  const ManyProducts<T, Offset> p = batch.member(r.member);
  const auto base = static_cast<std::int32_t>(p.a.base);
  const bool by_rows = p.b.order == Order::row_major;
  const std::int64_t row_step = by_rows ? p.b.leading_dimension : 1, column_step = by_rows ? 1 : p.b.leading_dimension;
  for (std::int32_t first = 0; first < p.b.cols; first += columns) {
    const T* const from = p.b.values + first * column_step;
    T sums[columns] = {};
#pragma unroll 2
    for (Offset k = r.begin + lane; k < r.end; k += lanes) {
      const T value = p.a.values[k];
      const T* b = from + (p.a.col_indices[k] - base) * row_step;
#pragma unroll
      for (int c = 0; c < columns; ++c, b += column_step)
        if (first + c < p.b.cols) sums[c] += value * conj_if(p.conjugate_b, *b);
    }
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const T sum = lanes_sum(sums[c], lanes);
      if (r.there && lane == 0 && first + c < p.b.cols) p.put(r.row, first + c, sum);
    }
  }
}

// Threads: `lanes` neighboring ones a row of a matrix of the batch, each with the sums of up to `columns` columns at a
//   time; then whole warps the long rows among theirs.
// Bytes: A once for each group of columns, from a cache after the first; C once; B as often as the caches miss.
// Races: an entry of C is one lane's. Whole warps stay together.
template <int columns, class T, class Offset>
__global__ void __launch_bounds__(batch_threads) batch_kernel(ProductBatch<T, Offset> batch, int lanes, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  BatchRow<T, Offset> mine(batch, (std::int64_t{blockIdx.x} * batch_threads + threadIdx.x) / lanes);
  unsigned long_rows = __ballot_sync(~0u, lane == 0 && mine.length() > SpmmTiling::alone * lanes);
  BatchRow<T, Offset> alone = mine;
  if (mine.length() > SpmmTiling::alone * lanes) alone.end = alone.begin, alone.there = false;
  multiply_row<columns>(batch, alone, lane, lanes);
  for (; long_rows != 0; long_rows &= long_rows - 1)
    multiply_row<columns>(batch, mine.of_lane(__ffs(static_cast<int>(long_rows)) - 1),
                          static_cast<int>(threadIdx.x) % 32, 32);
}

template <int columns, class T, class Offset>
void launch(const Cuda& cuda, const ProductBatch<T, Offset>& batch) {
  const auto& a = batch.first.a;
  const auto mean = static_cast<std::uint64_t>(a.nnz / std::max(a.rows, 1));
  constexpr std::uint64_t each = entries_a_lane(columns);
  const int lanes = static_cast<int>(std::bit_ceil(std::clamp<std::uint64_t>(ceil_div(mean, each), 1, 32)));
  const std::int64_t threads = batch.count * a.rows * lanes;
  batch_kernel<columns>
      <<<static_cast<unsigned>(ceil_div(threads, std::int64_t{batch_threads})), batch_threads, 0, cuda.stream>>>(
          batch, lanes, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void run_batch(const Cuda& cuda, const ProductBatch<T, Offset>& batch) {
  batch.first.b.cols == 1 ? launch<1>(cuda, batch) : launch<SpmmTiling::narrow>(cuda, batch);
}

// Where A comes from a cache and its rows cannot be long, a batch with groups of columns for matrices: with an A of
// their own, 1000 products of 10,000 rows with 8 columns took 0.694 ms on an H200, and 0.862 in tiles with one A.
template <class T, class Offset>
void run_many_columns(const Cuda& cuda, const ManyProducts<T, Offset>& p) {
  constexpr std::int32_t group = SpmmTiling::narrow, max_row = 16'384;  // not varied
  if (p.a.cols > max_row || p.a.nnz >= SpmmTiling::gathered_mean * std::int64_t{p.a.rows}) return run_products(cuda, p);
  const std::int32_t groups = p.b.cols / group, rest = p.b.cols % group;
  const auto run = [&](std::int32_t first, std::int32_t columns, std::int32_t count) {
    run_batch(cuda, ProductBatch<T, Offset>{columns_of(p, first, columns), count, 0, 0, 0,
                                            group * p.b.leading_dimension, group * p.c.leading_dimension});
  };
  if (groups > 0) run(0, group, groups);
  if (rest > 0) run(groups * group, rest, 1);
}

template <class T, class Offset>
struct CudaBatches {
  static constexpr std::tuple list{
      instance<void(const Cuda&, const ProductBatch<kernel_t<T>, Offset>&)>(run_batch),
      instance<void(const Cuda&, const ManyProducts<kernel_t<T>, Offset>&)>(run_many_columns)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(CudaBatches);

}  // namespace krill::detail

namespace krill {

template void run_pass(const Cuda&, std::int64_t, detail::BatchOffsets);

}  // namespace krill
