// Gustavson's algorithm: row i of A B is the sum of rows of B that row i of A names.
#include <omp.h>

#include <algorithm>
#include <numeric>

#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/spgemm/block_pattern.hpp"
#include "sparse/spgemm/products.hpp"

namespace krill::detail {
namespace {

constexpr std::int64_t rows_at_a_time = 256;  // Not varied

/// f(begin, end, an array of `length` of the thread's own, filled with `first` at the start) for blocks of rows.
template <class T, class F>
void for_row_blocks(const Host& host, std::int64_t rows, std::int64_t work, std::int64_t length, T first, F&& f) {
  Frame frame(host);
  const auto size = static_cast<std::size_t>(length);
  const auto all = size * static_cast<std::size_t>(host.threads_for(work));
  T* const memory = frame.take<T>(all);
  std::fill_n(memory, all, first);
  for_blocks(host, rows, rows_at_a_time, work, [&](std::int64_t begin, std::int64_t end) {
    f(begin, end, memory + size * static_cast<std::size_t>(omp_get_thread_num()));
  });
}

}  // namespace

template <class Offset, class Sink>
void merge_products(const Host& host, const ProductPattern<Offset>& p, Sink sink) {
  if (host.skip.now()) return;
  const auto &a = p.a, &b = p.b;
  const std::int64_t work = std::accumulate(p.products, p.products + a.rows, std::int64_t{a.rows});
  const std::int64_t most = std::min<std::int64_t>(p.max_products, b.cols);
  // A thread's array: the row that has last met each column, and the columns of the present row.
  for_row_blocks<std::int32_t>(
      host, a.rows, work, b.cols + most, -1, [&](std::int64_t begin, std::int64_t end, std::int32_t* met_by) {
        std::int32_t* const columns = met_by + b.cols;
        const Sink mine = sink;
        for (std::int64_t row = begin; row < end; ++row) {
          std::int64_t count = 0;
          for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            for (Offset e = b.row_offsets[a.col_indices[k]]; e < b.row_offsets[a.col_indices[k] + 1]; ++e) {
              const std::int32_t col = b.col_indices[e];
              if (met_by[col] == row) continue;
              met_by[col] = static_cast<std::int32_t>(row);
              columns[count++] = col;
            }
          const std::int64_t first = mine.begin(row);
          if constexpr (!std::is_same_v<Sink, CountUnion>) std::sort(columns, columns + count);
          for (std::int64_t at = 0; at < count; ++at) mine.entry(first + at, columns[at], absent, absent);
          mine.finish(row, first + count);
        }
      });
}

template <class T, class Offset>
void sum_products(const Host& host, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, const SumTeams&, const CsrView<const NoValue, Offset>& c,
                  T* values) {
  if (host.skip.now()) return;
  using Wide = wide_t<T>;
  const Wide factor = wide(alpha());
  for_row_blocks<Wide>(host, a.rows, c.nnz + a.nnz, b.cols, Wide{},
                       [&](std::int64_t begin, std::int64_t end, Wide* sums) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const Offset first = c.row_offsets[row], last = c.row_offsets[row + 1];
                           for (Offset at = first; at < last; ++at) sums[c.col_indices[at]] = Wide{};
                           for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
                             const Wide value = wide(a.values[k]);
                             const Offset row_end = b.row_offsets[a.col_indices[k] + 1];
                             for (Offset e = b.row_offsets[a.col_indices[k]]; e < row_end; ++e)
                               sums[b.col_indices[e]] += value * wide(b.values[e]);
                           }
                           for (Offset at = first; at < last; ++at) values[at] = T(factor * sums[c.col_indices[at]]);
                         }
                       });
}

template class ProductPatternKernels<std::int32_t, Host>;
template class ProductPatternKernels<std::int64_t, Host>;
template class BlockPatternPasses<std::int32_t, Host>;
template class BlockPatternPasses<std::int64_t, Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(ProductSumKernels, Host);

}  // namespace krill::detail
