// The host kernel of products with a dense matrix, row by row, whatever the types are.
#pragma once
#include "sparse/spmm/spmm.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill::detail {

inline constexpr int max_columns =
    8;  ///< for which a row's entries are read once; their sums stay in registers. Not varied.

/// Sums of a stored row for `count` columns from `first` on. Where B is row-major, a row of it is a vector.
template <bool row_major, int count, class Products>
void row_sums(const Products& p, std::int32_t s, std::int32_t first) {
  using Sum = typename Products::Sum;
  const std::int64_t row_step = row_major ? p.b.leading_dimension : 1;
  const std::int64_t column_step = row_major ? 1 : p.b.leading_dimension;
  const auto* const b = p.b.values + first * column_step;
  Sum sums[count] = {};
  p.a.for_entries(s, [&](std::int32_t col, const auto& stored) {
    const Sum value = p.widened(stored);
    const auto* const row = b + col * row_step;
    for (int c = 0; c < count; ++c) sums[c] += p.times(value, row[c * column_step]);
  });
  const std::int32_t i = p.a.row_of(s);
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

/// The products of the stored rows [begin, end). Of a row-major B, all columns of a row, whose lines lie side by side;
/// of another, all rows for some columns.
template <class Products>
void multiply_rows(const Products& p, std::int64_t begin, std::int64_t end) {
  const auto sums = [&]<bool row_major, int count>(std::bool_constant<row_major>, std::int64_t s, std::int32_t first,
                                                   std::integral_constant<int, count>) {
    row_sums<row_major, count>(p, static_cast<std::int32_t>(s), first);
  };
  if (p.b.order == Order::row_major)
    for (std::int64_t s = begin; s < end; ++s)
      for_column_groups(p.b.cols, [&](std::int32_t first, auto count) { sums(std::true_type(), s, first, count); });
  else
    for_column_groups(p.b.cols, [&](std::int32_t first, auto count) {
      for (std::int64_t s = begin; s < end; ++s) sums(std::false_type(), s, first, count);
    });
}

/// The products with their scalars at hand, which no store to C can change.
template <class Products>
Products with_fixed_scalars(const Products& p) {
  Products fixed = p;
  fixed.alpha = {p.alpha()}, fixed.beta = {p.beta()};
  return fixed;
}

/// All products, in pieces of equal work.
template <class Products>
void run_row_pieces(const Host& host, const Products& p) {
  if (host.skip.now()) return;
  const Products fixed = with_fixed_scalars(p);
  const RowPieces<decltype(p.a)> pieces{p.a, std::max(32'768 / p.b.cols, 1024)};
  for_blocks(host, pieces.count(), 1, (p.a.nnz + p.a.rows) * p.b.cols, [&](std::int64_t t, std::int64_t) {
    const Products mine = fixed;
    multiply_rows(mine, pieces.first_row(t), pieces.first_row(t + 1));
  });
}

}  // namespace krill::detail
