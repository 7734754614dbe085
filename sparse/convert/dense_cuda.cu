#include <algorithm>
#include <bit>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/dense.hpp"
#include "sparse/convert/dense_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr std::int64_t resident_threads = 2048;  ///< of a multiprocessor: the chip's limit
  static constexpr std::int64_t min_entries = 16;         ///< of a thread, before rows are cut further. Not varied.
};

/// The part of a row that a group of lanes goes along; the grid's last groups may have none.
struct Stretch {
  std::int64_t number, row, begin, end;
  int lane;
  bool exists;
};

/// How a dense matrix is cut. Where rows lie side by side in memory (column-major), a thread takes a row and its
/// neighbors read what lies beside it; else up to a warp goes along a row. Rows too few to fill the device are cut
/// into stretches of equal width.
class Cut {
 public:
  template <class T>
  Cut(const Cuda& cuda, const DenseView<const T>& d) : rows_(d.rows), cols_(d.cols) {
    const std::int64_t cols = std::max(d.cols, 1), rows = std::max(d.rows, 1);
    lanes_ = d.order == Order::column_major ? 1 : static_cast<int>(std::bit_ceil(std::min<std::uint64_t>(cols, 32)));
    const std::int64_t useful = detail::ceil_div(cols, lanes_ * Tuning::min_entries),
                       wanted = cuda.multiprocessors * Tuning::resident_threads / lanes_ / rows;
    width_ = detail::ceil_div(detail::ceil_div(cols, std::clamp<std::int64_t>(wanted, 1, useful)), lanes_) * lanes_;
    per_row_ = detail::ceil_div(cols, width_);
  }

  std::int64_t stretches() const { return rows_ * per_row_; }
  std::int64_t per_row() const { return per_row_; }
  unsigned blocks() const { return static_cast<unsigned>(detail::ceil_div(stretches() * lanes_, sum_threads)); }

  __device__ int lanes() const { return lanes_; }
  __device__ std::int64_t width() const { return width_; }
  __device__ Stretch mine() const {
    const std::int64_t thread = std::int64_t(blockIdx.x) * sum_threads + threadIdx.x, group = thread / lanes_,
                       row = group % rows_, place = group / rows_, begin = place * width_;
    const bool exists = place < per_row_;
    const std::int64_t end = !exists ? begin : begin + width_ < cols_ ? begin + width_ : cols_;
    return {row * per_row_ + place, row, begin, end, static_cast<int>(thread % lanes_), exists};
  }

 private:
  std::int64_t rows_, cols_, width_, per_row_;
  int lanes_;
};

/// Threads: a group of cut.lanes() a stretch. Bytes: reads d once, coalesced, and writes a count a stretch.
/// Races: a stretch's first lane alone writes its count. All lanes of a warp meet in the shuffles.
template <class T, class Count>
__global__ void __launch_bounds__(sum_threads)
    count_kernel(DenseView<const T> d, double threshold, Cut cut, Count* counts, Skip skip) {
  if (skip.now()) return;
  const Stretch mine = cut.mine();
  int count = 0;
#pragma unroll 4  // not varied
  for (std::int64_t j = mine.begin + mine.lane; j < mine.end; j += cut.lanes())
    count += is_above(d.at(mine.row, j), threshold);
  for (int offset = cut.lanes() / 2; offset > 0; offset /= 2) count += __shfl_xor_sync(~0u, count, offset);
  if (mine.lane == 0 && mine.exists) counts[mine.number] = count;
}

/// Threads: as in count_kernel. Bytes: reads d once, coalesced, and writes the entries.
/// Races: every stretch has a place of its own. All lanes of a warp take the same number of steps and vote in each.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads)
    fill_kernel(DenseView<const T> d, double threshold, Cut cut, const Offset* starts, Offset first,
                CsrView<T, Offset> out, Skip skip) {
  if (skip.now()) return;
  const Stretch mine = cut.mine();
  const unsigned group_shift = threadIdx.x % 32 - mine.lane, before = (1u << mine.lane) - 1;
  const unsigned group = cut.lanes() == 32 ? ~0u : (1u << cut.lanes()) - 1;
  Offset to = mine.exists ? starts[mine.number] - first : 0;
  for (std::int64_t step = mine.lane; step < mine.lane + cut.width(); step += cut.lanes()) {
    const std::int64_t j = mine.begin + step;
    const T value = j < mine.end ? d.at(mine.row, j) : T(0);
    const bool keep = is_above(value, threshold);
    const unsigned votes = __ballot_sync(~0u, keep) >> group_shift & group;
    if (keep) {
      const Offset place = to + __popc(votes & before);
      out.col_indices[place] = static_cast<std::int32_t>(j) + static_cast<std::int32_t>(out.base);
      out.values[place] = value;
    }
    to += __popc(votes);
  }
}

/// counts[i] = the sum of row i's stretches. Over the rows.
template <class Count>
struct AddStretches {
  using Sum = NoSum;
  const Count* parts;
  std::int64_t per_row;
  Count* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Count sum = 0;
    for (std::int64_t k = 0; k < per_row; ++k) sum += parts[i * per_row + k];
    counts[i] = sum;
    return {};
  }
};

template <class T, class Count>
void count_stretches(const Cuda& cuda, const DenseView<const T>& d, double threshold, const Cut& cut, Count* counts) {
  if (d.rows == 0) return;
  count_kernel<<<cut.blocks(), sum_threads, 0, cuda.stream>>>(d, threshold, cut, counts, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void csr_to_dense(const Cuda& cuda, const CsrView<const T, Offset>& a, const DenseView<T>& d) {
  run_pass(cuda, std::int64_t{d.rows} * d.cols, ZeroDense<T>{d});
  run_pass(cuda, a.nnz, ScatterCsr<T, Offset>{a, d});
}

template <class T, class Count>
void count_nonzeros(const Cuda& cuda, const DenseView<const T>& d, Count* counts, std::int64_t* total,
                    double threshold) {
  const Cut cut(cuda, d);
  if (cut.per_row() == 1) {
    count_stretches(cuda, d, threshold, cut, counts);
  } else {
    Frame frame(cuda);
    auto* parts = frame.take<Count>(static_cast<std::size_t>(cut.stretches()));
    count_stretches(cuda, d, threshold, cut, parts);
    run_pass(cuda, d.rows, AddStretches<Count>{parts, cut.per_row(), counts});
  }
  run_pass(cuda, d.rows, TotalCount<Count>{counts, total});
}

template <class T, class Offset>
void dense_to_csr(const Cuda& cuda, const DenseView<const T>& d, const CsrView<T, Offset>& out, double threshold) {
  if (d.rows == 0 || d.cols == 0) return;
  const Cut cut(cuda, d);
  Frame frame(cuda);
  const Offset* starts = out.row_offsets;
  auto first = static_cast<Offset>(out.base);
  if (cut.per_row() > 1) {
    const std::int64_t n = cut.stretches();
    auto *counts = frame.take<Offset>(static_cast<std::size_t>(n)),
         *offsets = frame.take<Offset>(static_cast<std::size_t>(n) + 1);
    count_stretches(cuda, d, threshold, cut, counts);
    scan_counts(cuda, n, counts, offsets);
    starts = offsets, first = 0;
  }
  fill_kernel<<<cut.blocks(), sum_threads, 0, cuda.stream>>>(d, threshold, cut, starts, first, out, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(DenseKernels, Cuda);
template class DenseKernels<Half, std::int32_t, Cuda>;
template class DenseKernels<Half, std::int64_t, Cuda>;

}  // namespace krill::detail
