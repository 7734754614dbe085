#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/csr_lanes.cuh"
#include "sparse/spmv/csr_products.cuh"
#include "sparse/spmv/csr_staged.cuh"
#include "sparse/spmv/csr_tiles_passes.hpp"
#include "sparse/spmv/launch.cuh"

namespace krill::detail {
namespace {

/// Copies in the background take 16 bytes at a time, and stages much of the shared memory that a block can have.
template <class T, class Offset>
bool can_be_staged(const Cuda& cuda, const CsrView<const T, Offset>& a, const CsrTiling& tiling) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(a.values) | reinterpret_cast<std::uintptr_t>(a.col_indices) |
                         reinterpret_cast<std::uintptr_t>(a.row_offsets);
  constexpr std::size_t fixed = 2048;  // bounds, barriers and sums
  return addresses % 16 == 0 && StagedMemory<T, Offset>::bytes(tiling) + fixed <= max_shared(cuda) &&
         has_bulk_copies<csr_staged_kernel<false, T, Offset>>();
}

template <bool with_dots, class T, class Offset>
void launch(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles) {
  const CsrTiling& tiling = tiles.tiling;
  if (tiling.kernel == CsrKernel::staged && can_be_staged(cuda, p.a, tiling))
    return launch_product<csr_staged_kernel<with_dots, T, Offset>>(
        cuda, p, {tiles.count, staged_threads, StagedMemory<T, Offset>::bytes(tiling)}, tiles);
  // A grid of as many blocks as there are tiles leaves it to the device to balance them, but as many sums to be added.
  if (tiling.kernel != CsrKernel::lanes)
    return launch_product<csr_products_kernel<with_dots, T, Offset>>(
        cuda, p, {tiles.count, ProductsTuning::threads, tiling.capacity() * sizeof(T), with_dots}, tiles);
  const ProductGrid grid{tiles.count, sum_threads, 0, with_dots};
  switch (tiling.lanes) {
    case 4:
      return launch_product<csr_lanes_kernel<with_dots, 4, T, Offset>>(cuda, p, grid, tiles);
    case 8:
      return launch_product<csr_lanes_kernel<with_dots, 8, T, Offset>>(cuda, p, grid, tiles);
    case 16:
      return launch_product<csr_lanes_kernel<with_dots, 16, T, Offset>>(cuda, p, grid, tiles);
    default:
      return launch_product<csr_lanes_kernel<with_dots, 32, T, Offset>>(cuda, p, grid, tiles);
  }
}

}  // namespace

template <class Offset>
void find_tiles(const Cuda& cuda, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets, IndexBase base,
                const CsrTilesView& to) {
  require(to.count == to.tiling.count(rows, nnz), "csr tiles: the arrays are of another matrix");
  const std::int64_t boundaries = to.count + std::int64_t{1};
  Frame frame(cuda);
  auto* starts = frame.take<std::int32_t>(static_cast<std::size_t>(boundaries));
  run_pass(cuda, boundaries,
           FindTiles<Offset>{to.tiling, to.count, rows, static_cast<std::int64_t>(base), row_offsets, to.tiles,
                             to.arrived, starts});
  if (to.tiling.kernel == CsrKernel::staged)
    run_pass(cuda, rows,
             MarkUnevenTiles<Offset>{to.tiling, to.count, static_cast<std::int64_t>(base), row_offsets, to.tiles});
  scan_counts(cuda, boundaries, starts, to.long_starts);
  run_pass(cuda, boundaries, ListLongRows{to.tiles, to.long_starts, to.long_rows});
}

template <class T, class Offset>
void run_product(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p, const CsrTilesView& tiles) {
  p.dots.wanted() ? launch<true>(cuda, p, tiles) : launch<false>(cuda, p, tiles);
}

template void find_tiles(const Cuda&, std::int32_t, std::int64_t, const std::int32_t*, IndexBase, const CsrTilesView&);
template void find_tiles(const Cuda&, std::int32_t, std::int64_t, const std::int64_t*, IndexBase, const CsrTilesView&);

}  // namespace krill::detail

namespace krill {

using namespace detail;

template <class T, class Offset>
void run_product(const Cuda& cuda, const Product<CsrView<const T, Offset>>& p) {
  Frame frame(cuda);
  const CsrTilesView tiles = take_tiles(frame, CsrTiling::of(p.a.rows, p.a.nnz), p.a.rows, p.a.nnz, sizeof(T));
  find_tiles(cuda, p.a.rows, p.a.nnz, p.a.row_offsets, p.a.base, tiles);
  p.dots.wanted() ? launch<true>(cuda, p, tiles) : launch<false>(cuda, p, tiles);
}

template <class T, class Offset>
struct CsrCudaInstances {
  static constexpr std::tuple list{
      instance<void(const Cuda&, const Product<CsrView<const kernel_t<T>, Offset>>&)>(run_product),
      instance<void(const Cuda&, const Product<CsrView<const kernel_t<T>, Offset>>&, const CsrTilesView&)>(
          run_product)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(CsrCudaInstances);

}  // namespace krill
