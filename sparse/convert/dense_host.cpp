#include <algorithm>

#include "sparse/convert/dense.hpp"
#include "sparse/convert/dense_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr std::int64_t row_block = 256;  ///< rows a thread at a time: 2 KB of a column of doubles. Not varied.
};

/// use(i, j, value) for every entry above the threshold of the rows [begin, end), each row from left to right; in the
/// order of memory, whichever that is.
template <class T, class F>
void for_above(const DenseView<const T>& d, double threshold, std::int64_t begin, std::int64_t end, F&& use) {
  const auto visit = [&](std::int64_t i, std::int32_t j) {
    if (const T value = d.at(i, j); is_above(value, threshold)) use(i, j, value);
  };
  if (d.order == Order::column_major)
    for (std::int32_t j = 0; j < d.cols; ++j)
      for (std::int64_t i = begin; i < end; ++i) visit(i, j);
  else
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int32_t j = 0; j < d.cols; ++j) visit(i, j);
}

}  // namespace

template <class T, class Offset>
void csr_to_dense(const Host& host, const CsrView<const T, Offset>& a, const DenseView<T>& d) {
  run_pass(host, std::int64_t{d.rows} * d.cols, ZeroDense<T>{d});
  run_pass(host, a.nnz, ScatterCsr<T, Offset>{a, d});
}

template <class T, class Count>
void count_nonzeros(const Host& host, const DenseView<const T>& d, Count* counts, std::int64_t* total,
                    double threshold) {
  if (host.skip.now()) return;
  for_blocks(host, d.rows, Tuning::row_block, std::int64_t{d.rows} * d.cols, [&](std::int64_t begin, std::int64_t end) {
    std::fill(counts + begin, counts + end, Count(0));
    for_above(d, threshold, begin, end, [&](std::int64_t i, std::int32_t, T) { ++counts[i]; });
  });
  run_pass(host, d.rows, TotalCount<Count>{counts, total});
}

template <class T, class Offset>
void dense_to_csr(const Host& host, const DenseView<const T>& d, const CsrView<T, Offset>& out, double threshold) {
  if (host.skip.now()) return;
  const auto base = static_cast<std::int32_t>(out.base);
  for_blocks(host, d.rows, Tuning::row_block, std::int64_t{d.rows} * d.cols, [&](std::int64_t begin, std::int64_t end) {
    Offset next[Tuning::row_block];
    for (std::int64_t i = begin; i < end; ++i) next[i - begin] = out.row_offsets[i] - base;
    for_above(d, threshold, begin, end, [&](std::int64_t i, std::int32_t j, T value) {
      const Offset to = next[i - begin]++;
      out.col_indices[to] = j + base;
      out.values[to] = value;
    });
  });
}

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(DenseKernels, Host);
template class DenseKernels<Half, std::int32_t, Host>;
template class DenseKernels<Half, std::int64_t, Host>;

}  // namespace krill::detail
