// How the kernels of products are launched.
#pragma once
#include <algorithm>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

struct LaunchTuning {
  /// Blocks of a pass for which a grid that stays leaves room beside it: else they would wait for its end. 0 to 132
  /// were tried (docs/results/h200-team.md).
  static constexpr int room_beside = 64;
};

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
  std::int64_t resident = resident_blocks<kernel>(cuda, grid.shared, grid.threads);
  if (p.dots.meeting) {
    // Where a multiprocessor holds few large blocks, the place of one has room for several of a pass.
    const std::int64_t held = std::max<std::int64_t>(resident / cuda.multiprocessors, 1);
    resident -= LaunchTuning::room_beside / std::max<std::int64_t>(sum_blocks_per_multiprocessor / held, 1);
  }
  const auto blocks = static_cast<int>(grid.stays ? std::min(grid.blocks, resident) : grid.blocks);
  Frame frame(cuda);
  const auto scratch =
      grid_scratch<typename DotsView<typename View::Value>::Sum>(cuda, frame, p.dots.wanted() ? blocks : 0);
  kernel<<<blocks, grid.threads, grid.shared, cuda.stream>>>(p, args..., cuda.skip, scratch);
  check(cudaGetLastError());
}

}  // namespace krill::detail
