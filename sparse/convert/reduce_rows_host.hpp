// Passes over the entries of rows, on the host.
#pragma once
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

template <class RowPass>
void reduce_rows(const Host& host, RowPass pass) {
  using Sum = typename RowPass::Sum;
  if (host.skip.now()) return;
  const auto over = [&](std::int64_t begin, std::int64_t end) {
    const RowPass mine = pass;
    Sum sum{};
    for (std::int64_t row = begin; row < end; ++row) {
      if (!mine.wants(row)) continue;
      typename RowPass::Item item{};
      for (std::int64_t k = mine.a.row_offsets[row]; k < mine.a.row_offsets[row + 1]; ++k) item += mine.entry(row, k);
      sum += mine.finish_row(row, item);
    }
    return sum;
  };
  if constexpr (std::is_same_v<Sum, NoSum>)
    for_blocks(host, pass.a.rows, sum_block, pass.a.nnz, over);
  else
    pass.finish(sum_over_blocks<Sum>(host, pass.a.rows, pass.a.nnz, over));
}

}  // namespace krill::detail
