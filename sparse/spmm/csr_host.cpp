#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/spmm.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill::detail {
namespace {

constexpr int most_columns = 8;  ///< for which a row's entries are read once; their sums stay in registers. Not varied.

/// Sums of a row for `count` columns from `first` on. Where B is row-major, a row of it is a vector.
template <bool row_major, int count, class T, class Offset>
void row_sums(const ManyProducts<T, Offset>& p, std::int64_t i, std::int32_t first) {
  const auto base = static_cast<std::int32_t>(p.a.base);
  const std::int64_t row_step = row_major ? p.b.leading_dimension : 1;
  const std::int64_t column_step = row_major ? 1 : p.b.leading_dimension;
  const T* const b = p.b.values + first * column_step;
  T sums[count] = {};
  for (std::int64_t k = p.a.row_offsets[i] - base; k < p.a.row_offsets[i + 1] - base; ++k) {
    const T value = p.a.values[k];
    const T* const row = b + (p.a.col_indices[k] - base) * row_step;
    for (int c = 0; c < count; ++c) sums[c] += value * conj_if(p.conjugate_b, row[c * column_step]);
  }
  for (int c = 0; c < count; ++c) p.put(i, first + c, sums[c]);
}

template <bool row_major, class T, class Offset>
void multiply_rows(const ManyProducts<T, Offset>& p, std::int64_t begin, std::int64_t end) {
  std::int32_t first = 0;
  // All rows for some columns: of a row-major B, those that a row's entries have brought into the cache come next.
  for (; first + most_columns <= p.b.cols; first += most_columns)
    for (std::int64_t i = begin; i < end; ++i) row_sums<row_major, most_columns>(p, i, first);
  for (; first + 2 <= p.b.cols; first += 2)
    for (std::int64_t i = begin; i < end; ++i) row_sums<row_major, 2>(p, i, first);
  for (; first < p.b.cols; ++first)
    for (std::int64_t i = begin; i < end; ++i) row_sums<row_major, 1>(p, i, first);
}

}  // namespace

template <class T, class Offset>
void run_products(const Host& host, const ManyProducts<T, Offset>& p) {
  if (host.skip.now()) return;
  ManyProducts<T, Offset> fixed = p;
  fixed.alpha = {p.alpha()}, fixed.beta = {p.beta()};
  const RowPieces<T, Offset> pieces{p.a, std::max(32'768 / p.b.cols, 1024)};
  for_blocks(host, pieces.count(), 1, (p.a.nnz + p.a.rows) * p.b.cols, [&](std::int64_t t, std::int64_t) {
    const ManyProducts<T, Offset> mine = fixed;
    const std::int64_t begin = pieces.first_row(t), end = pieces.first_row(t + 1);
    p.b.order == Order::row_major ? multiply_rows<true>(mine, begin, end) : multiply_rows<false>(mine, begin, end);
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(ManyProductsKernels, Host);

}  // namespace krill::detail
