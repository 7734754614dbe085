#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/batch.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill::detail {
namespace {

constexpr int max_columns = 8;  ///< for which a row's entries are read once; their sums stay in registers. Not varied.

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

/// f(first, integral_constant of a count) for columns in groups of up to max_columns.
template <class F>
void for_column_groups(std::int32_t columns, F&& f) {
  std::int32_t first = 0;
  for (; first + max_columns <= columns; first += max_columns) f(first, std::integral_constant<int, max_columns>());
  for (; first + 2 <= columns; first += 2) f(first, std::integral_constant<int, 2>());
  for (; first < columns; ++first) f(first, std::integral_constant<int, 1>());
}

/// Of a row-major B, all columns of a row, whose lines lie side by side; of another, all rows for some columns.
template <bool row_major, class T, class Offset>
void multiply_rows(const ManyProducts<T, Offset>& p, std::int64_t begin, std::int64_t end) {
  const auto sums = [&]<int count>(std::int64_t i, std::int32_t first, std::integral_constant<int, count>) {
    row_sums<row_major, count>(p, i, first);
  };
  if constexpr (row_major)
    for (std::int64_t i = begin; i < end; ++i)
      for_column_groups(p.b.cols, [&](std::int32_t first, auto count) { sums(i, first, count); });
  else
    for_column_groups(p.b.cols, [&](std::int32_t first, auto count) {
      for (std::int64_t i = begin; i < end; ++i) sums(i, first, count);
    });
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

template <class T, class Offset>
void run_batch(const Host& host, const ProductBatch<T, Offset>& batch) {
  if (host.skip.now()) return;
  constexpr std::int64_t rows_at_a_time = 1024;
  ProductBatch<T, Offset> fixed = batch;
  fixed.first.alpha = {batch.first.alpha()}, fixed.first.beta = {batch.first.beta()};
  const auto& a = batch.first.a;
  const std::int64_t pieces = ceil_div(std::int64_t{a.rows}, rows_at_a_time);
  const std::int64_t work = batch.count * (a.nnz + a.rows) * batch.first.b.cols;
  for_blocks(host, batch.count * pieces, 1, work, [&](std::int64_t t, std::int64_t) {
    const ManyProducts<T, Offset> mine = fixed.member(t / pieces);
    const std::int64_t begin = t % pieces * rows_at_a_time;
    const std::int64_t end = std::min<std::int64_t>(begin + rows_at_a_time, a.rows);
    mine.b.order == Order::row_major ? multiply_rows<true>(mine, begin, end) : multiply_rows<false>(mine, begin, end);
  });
}

template <class T, class Offset>
struct HostProducts {
  static constexpr std::tuple list{instance<void(const Host&, const ManyProducts<kernel_t<T>, Offset>&)>(run_products),
                                   instance<void(const Host&, const ProductBatch<kernel_t<T>, Offset>&)>(run_batch)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(HostProducts);

}  // namespace krill::detail

namespace krill {

template void run_pass(const Host&, std::int64_t, detail::BatchOffsets);

}  // namespace krill
