// How the kernels of products are launched.
#pragma once
#include <algorithm>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// A grid of `blocks`. Where they stay, striding over the grid, there are no more of them than the device holds at a
/// time.
struct ProductGrid {
  std::int64_t blocks;
  int threads = sum_threads;
  std::size_t shared = 0;  ///< bytes of dynamic shared memory a block
  bool stays = true;
};

/// Launches kernel(p, args..., skip, scratch).
template <auto kernel, class View, class... Args>
void launch_product(const Cuda& cuda, const Product<View>& p, const ProductGrid& grid, const Args&... args) {
  const std::int64_t resident = resident_blocks<kernel>(cuda, grid.shared, grid.threads);
  const auto blocks = static_cast<int>(grid.stays ? std::min(grid.blocks, resident) : grid.blocks);
  Frame frame(cuda);
  const auto scratch =
      grid_scratch<typename DotsView<typename View::Value>::Sum>(cuda, frame, p.dots.wanted() ? blocks : 0);
  kernel<<<blocks, grid.threads, grid.shared, cuda.stream>>>(p, args..., cuda.skip, scratch);
  check(cudaGetLastError());
}

}  // namespace krill::detail
