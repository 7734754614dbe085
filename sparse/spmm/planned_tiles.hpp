// The tiles that a plan of products with a dense matrix keeps.
#pragma once
#include "sparse/spmm/tiling.hpp"

namespace krill::detail {

/// On CUDA, for so many columns: with row-major B and C, and with others. On the host there is nothing to find.
struct PlannedTiles {
  std::int32_t columns;
  CsrTiles by_rows = {}, by_columns = {};

  template <class Offset>
  void find(Context& ctx, std::int32_t rows, std::int64_t nnz, std::size_t value_bytes, const Array<Offset>& offsets) {
    const auto found = [&](bool rows_first) {
      const auto tiling = SpmmTiling::of(rows, nnz, value_bytes, columns, rows_first, true);
      return CsrTiles::of(ctx, tiling.tiles, rows, nnz, offsets);
    };
    by_rows = found(true), by_columns = found(false);
  }
  /// Those that suit the products; null where there are none.
  template <class Products>
  const CsrTiles* of(const Products& p) const {
    const CsrTiles& tiles = p.by_rows() ? by_rows : by_columns;
    return p.b.cols == columns && !tiles.empty() ? &tiles : nullptr;
  }
  std::size_t bytes() const { return by_rows.bytes() + by_columns.bytes(); }
};

}  // namespace krill::detail
