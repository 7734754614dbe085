#include "sparse/spmm/mixed_rows.hpp"
#include "sparse/spmm/tile_products.cuh"

namespace krill::detail {

template <class Types>
void run_rows(const Cuda& cuda, const MixedRows<Types>& p, const CsrTilesView& tiles) {
  run_tiles<1>(cuda, p, tiles);
}

template <class Types>
void run_rows(const Cuda& cuda, const MixedRows<Types>& p) {
  Frame frame(cuda);
  const CsrTilesView tiles = take_tiles(frame, tiling_of(p, true).tiles, p.a.rows, p.a.nnz, 0);
  const AnyOffsets& offsets = p.a.row_offsets;
  offsets.wide ? find_tiles(cuda, p.a.rows, p.a.nnz, offsets.wide, p.a.base, tiles)
               : find_tiles(cuda, p.a.rows, p.a.nnz, offsets.narrow, p.a.base, tiles);
  run_rows(cuda, p, tiles);
}

/// Products with tiles that a plan has.
template <class Table = MixedTable>
struct MixedTileKernels;
template <class... Types>
struct MixedTileKernels<std::tuple<Types...>> {
  static constexpr std::tuple list{
      instance<void(const Cuda&, const MixedRows<Types>&, const CsrTilesView&)>(run_rows)...};
};

template class MixedKernels<Cuda>;
template struct MixedTileKernels<>;
template struct MixedPasses<Cuda>;

}  // namespace krill::detail
