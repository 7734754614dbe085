#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/tile_products.cuh"

namespace krill::detail {

template <class T, class Offset>
void run_products(const Cuda& cuda, const ManyProducts<T, Offset>& p, const CsrTilesView& tiles) {
  run_tiles<SpmmTiling::narrow / 2>(cuda, p, tiles);
}

template <class T, class Offset>
void run_products(const Cuda& cuda, const ManyProducts<T, Offset>& p) {
  Frame frame(cuda);
  const CsrTilesView tiles = take_tiles(frame, tiling_of(p, true).tiles, p.a.rows, p.a.nnz, 0);
  find_tiles(cuda, p.a.rows, p.a.nnz, p.a.row_offsets, p.a.base, tiles);
  run_products(cuda, p, tiles);
}

template <class T, class Offset>
struct CudaProducts {
  using Products = ManyProducts<kernel_t<T>, Offset>;
  static constexpr std::tuple list{instance<void(const Cuda&, const Products&)>(run_products),
                                   instance<void(const Cuda&, const Products&, const CsrTilesView&)>(run_products)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(CudaProducts);

}  // namespace krill::detail
