#include "sparse/spmm/lines.cuh"
#include "sparse/spmm/stored_rows.hpp"
#include "sparse/spmm/tiling.hpp"

namespace krill::detail {
namespace {

// Not varied.
struct Tuning {
  static constexpr int threads = 256;
  static constexpr int along = 4;  ///< columns of a thread where lanes lie along them
  static constexpr int max_lanes = 32;
};

// Threads: `lanes` neighboring ones a stored row, each with the sums of every `lanes`-th column, up to `count`. Stored
//   rows side by side lie side by side in memory; with one lane they mostly read neighboring entries of a column of B,
//   with more the lanes read lines of it.
// Bytes: A once, C once, B as often as the caches miss.
// Races: an entry of C is one thread's; nobody waits for anybody.
template <int count, class View>
__global__ void __launch_bounds__(Tuning::threads) stored_rows_kernel(RowProducts<View> p, int lanes, Skip skip) {
  using T = typename View::Value;
  if (skip.now()) return;
  const std::int64_t number = (std::int64_t{blockIdx.x} * Tuning::threads + threadIdx.x) / lanes;
  if (number >= p.a.stored_rows()) return;
  const auto s = static_cast<std::int32_t>(number);
  const int lane = static_cast<int>(threadIdx.x) % lanes, there = (p.b.cols - lane + lanes - 1) / lanes;
  const bool by_rows = p.b.order == Order::row_major;
  const std::int64_t row_step = by_rows ? p.b.leading_dimension : 1, column_step = by_rows ? 1 : p.b.leading_dimension;
  const T* const b = p.b.values + lane * column_step;
  T sums[count] = {};
  p.a.for_entries(s, [&](std::int32_t col, const T& value) {
    const T* from = b + col * row_step;
#pragma unroll
    for (int c = 0; c < count; ++c, from += lanes * column_step)
      if (c < there) sums[c] += p.times(value, *from);
  });
  const std::int32_t row = p.a.row_of(s);
#pragma unroll
  for (int c = 0; c < count; ++c)
    if (c < there) p.put(row, lane + c * lanes, sums[c]);
}

template <int count, class View>
void launch(const Cuda& cuda, const RowProducts<View>& p, int lanes) {
  const std::int64_t threads = std::int64_t{p.a.stored_rows()} * lanes;
  stored_rows_kernel<count>
      <<<static_cast<unsigned>(ceil_div(threads, std::int64_t{Tuning::threads})), Tuning::threads, 0, cuda.stream>>>(
          p, lanes, cuda.skip);
  check(cudaGetLastError());
}

/// All products. gathered: the rows of a column-major B are brought together first.
template <class View>
void multiply_stored_rows(const Cuda& cuda, const RowProducts<View>& p, bool gathered) {
  using T = typename View::Value;
  const bool along = gathered || p.b.order == Order::row_major;
  const std::int32_t group = gathered ? line_entries<T>
                             : along  ? Tuning::along * Tuning::max_lanes
                                      : SpmmTiling::narrow;
  Frame frame(cuda);
  T* const room =
      gathered
          ? frame.take<T>(static_cast<std::size_t>(p.b.rows) * static_cast<std::size_t>(line_entries_for<T>(p.b.cols)))
          : nullptr;
  for (std::int32_t first = 0; first < p.b.cols; first += group) {
    auto part = columns_of(p, first, std::min(group, p.b.cols - first));
    if (gathered) part.b = in_lines(cuda, part.b, room);
    if (along)
      launch<Tuning::along>(
          cuda, part, static_cast<int>(std::bit_ceil(static_cast<unsigned>(ceil_div(part.b.cols, Tuning::along)))));
    else if (part.b.cols > Tuning::along)
      launch<SpmmTiling::narrow>(cuda, part, 1);
    else
      launch<Tuning::along>(cuda, part, 1);
  }
}

/// Whether rows of a column-major B are to be brought together for rows with columns of any kind.
template <class View>
bool wants_lines(const RowProducts<View>& p, std::int64_t entries) {
  return p.b.order == Order::column_major && p.b.cols >= SpmmTiling::gathered_from &&
         entries >= SpmmTiling::gathered_mean * std::int64_t{p.a.stored_rows()};
}

}  // namespace

template <class T>
void run_products(const Cuda& cuda, const RowProducts<SellView<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(cuda, p, wants_lines(p, entries));
}
// Stored rows side by side read neighboring entries of B, so that columns of it serve as well as rows.
template <class T>
void run_products(const Cuda& cuda, const RowProducts<DiaView<const T>>& p, std::int64_t) {
  multiply_stored_rows(cuda, p, false);
}
// Nor do patterns of columns need it: rows side by side mostly have the same one.
template <class T>
void run_products(const Cuda& cuda, const RowProducts<CodedRows<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(cuda, p, p.a.a.column_code != ColumnCode::pattern && wants_lines(p, entries));
}

KRILL_INSTANTIATE(StoredRowKernels, Cuda);

}  // namespace krill::detail
