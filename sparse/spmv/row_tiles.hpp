// The frame of the host kernels that go by rows: tiles of rows in parallel, the dots added in order.
#pragma once
#include "sparse/core/pass_host.hpp"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// f(product, begin, end) for tiles that cover `count` things (rows, slices, block rows), `tile` of them each; returns
/// what the tile adds to the dots. `work` is the cost of all in entries. The result does not depend on the number of
/// threads. Every tile works with a copy of the product that no store to y can change: it stays in registers.
template <class View, class F>
void for_row_tiles(const Host& host, const Product<View>& p, std::int64_t count, std::int64_t tile, std::int64_t work,
                   F&& f) {
  if (host.skip.now()) return;
  using Sum = typename DotsView<typename View::Value>::Sum;
  const std::int64_t tiles = ceil_div(count, tile);
  Frame frame(host);
  Sum* parts = frame.take<Sum>(static_cast<std::size_t>(tiles));
  Product<View> fixed = p;
  fixed.alpha = {p.alpha()}, fixed.beta = {p.beta()};
  for_blocks(host, count, tile, work, [&](std::int64_t begin, std::int64_t end) {
    const Product<View> mine = fixed;
    parts[begin / tile] = f(mine, begin, end);
  });
  Sum total;
  for (std::int64_t t = 0; t < tiles; ++t) total += parts[t];
  if (p.dots.wanted()) p.dots.finish(total);
}

/// The rows of a matrix in pieces of `length` entries and rows together, whatever the rows look like, so that a few
/// long ones do not hold up one thread.
template <class Matrix>
struct RowPieces {
  const Matrix& a;
  std::int64_t length = 32'768;  ///< many pieces a thread, each far above its cost

  std::int64_t count() const { return (a.nnz + a.rows) / length + 1; }
  /// Found by bisection. The last piece ends with the last row.
  std::int64_t first_row(std::int64_t piece) const {
    if (piece == count()) return a.rows;
    std::int64_t low = 0, high = a.rows;
    const std::int64_t base = a.row_offsets[0];
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (a.row_offsets[middle] - base + middle < piece * length)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// The number of things in a tile of about `wanted` entries, where all `count` things have `work` entries.
inline std::int64_t tile_of(std::int64_t count, std::int64_t work, std::int64_t wanted = 32'768) {
  return std::max<std::int64_t>(1, count * wanted / std::max<std::int64_t>(work, 1));
}

}  // namespace krill::detail
