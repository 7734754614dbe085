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
  p.dots.finish(total);
}

/// The number of things in a tile of about `wanted` entries, where all `count` things have `work` entries.
inline std::int64_t tile_of(std::int64_t count, std::int64_t work, std::int64_t wanted = 32'768) {
  return std::max<std::int64_t>(1, count * wanted / std::max<std::int64_t>(work, 1));
}

}  // namespace krill::detail
