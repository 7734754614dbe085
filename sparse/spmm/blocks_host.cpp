#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/blocks.hpp"
#include "sparse/spmm/row_products.hpp"

namespace krill::detail {
namespace {

/// The sums of row i of a block row for `count` columns from `first` on.
template <int count, class Products>
void block_row_sums(const Products& p, std::int32_t block_row, std::int32_t i, std::int32_t first) {
  using Sum = typename Products::Sum;
  const bool by_rows = p.b.order == Order::row_major;
  const std::int64_t row_step = by_rows ? p.b.leading_dimension : 1, column_step = by_rows ? 1 : p.b.leading_dimension;
  Sum sums[count] = {};
  for (std::int64_t k = p.a.begin(block_row); k < p.a.end(block_row); ++k) {
    const auto* const values = p.a.block(block_row, k) + i * p.a.step_i;
    const auto* b = p.b.values + p.a.first_column(k) * row_step + first * column_step;
    const std::int32_t columns = p.a.columns(block_row, k);
    for (std::int32_t j = 0; j < columns; ++j, b += row_step) {
      const auto value = static_cast<Sum>(values[j * p.a.step_j]);
      if (value == Sum(0)) continue;
      for (int c = 0; c < count; ++c) sums[c] += p.times(value, b[c * column_step]);
    }
  }
  const std::int64_t row = std::int64_t{block_row} * p.a.row_dim + i;
  for (int c = 0; c < count; ++c) p.put(row, first + c, sums[c]);
}

}  // namespace

template <class Types>
void run_blocks(const Host& host, const BlockProducts<Types>& p, TensorCores) {
  if (host.skip.now()) return;
  const BlockProducts<Types> fixed = with_fixed_scalars(p);
  const std::int64_t work = (p.a.stored_blocks * p.a.row_dim * p.a.col_dim + p.a.rows) * p.b.cols;
  for_blocks(host, p.a.block_rows(), tile_of(p.a.block_rows(), work), work, [&](std::int64_t begin, std::int64_t end) {
    const BlockProducts<Types> mine = fixed;
    for (auto block_row = static_cast<std::int32_t>(begin); block_row < end; ++block_row)
      for (std::int32_t i = 0; i < std::min(mine.a.row_dim, mine.a.rows - block_row * mine.a.row_dim); ++i)
        for_column_groups(mine.b.cols, [&]<int count>(std::int32_t first, std::integral_constant<int, count>) {
          block_row_sums<count>(mine, block_row, i, first);
        });
  });
}

KRILL_INSTANTIATE(BlockProductKernels, Host);
template struct NarrowBlockKernels<Half, Host>;
template struct NarrowBlockKernels<BFloat16, Host>;

}  // namespace krill::detail
