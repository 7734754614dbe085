#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/block_pieces.cuh"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  /// Blocks that a multiprocessor is to hold; fewer where values come in pieces, which take registers. Not varied.
  template <bool whole>
  static constexpr int resident() {
    return whole ? 4 : 6;
  }
  static constexpr int min_lanes = 2, max_lanes = 16;  ///< that share a row. Not varied.
};

/// Row i in pieces. dim = 0: the block's size is not known when this is compiled.
template <int dim, int count, class T>
struct RowInBlocks {
  const BlockedEllView<const T>& a;
  const std::int32_t* blocks;
  const T* row;

  __device__ RowInBlocks(const BlockedEllView<const T>& matrix, std::int32_t i)
      : a(matrix),
        blocks(matrix.col_indices + std::int64_t{static_cast<unsigned>(i) / size()} * width()),
        row(matrix.values + i * matrix.ell_cols) {}
  __device__ unsigned size() const { return dim ? dim : static_cast<unsigned>(a.block_dim); }
  __device__ unsigned width() const { return (static_cast<unsigned>(a.ell_cols) + size() - 1) / size(); }
  __device__ unsigned parts() const { return size() / count; }
  __device__ unsigned offset(PiecePlace at) const { return at.whole * size() + at.part * count; }
  __device__ bool has(PiecePlace at) const { return offset(at) < static_cast<unsigned>(a.ell_cols); }
  __device__ const std::int32_t* block(PiecePlace at) const { return blocks + at.whole; }
  __device__ const T* values(PiecePlace at) const { return row + offset(at); }
};

template <int lanes, int dim, int count, bool whole>
struct BlockedEllRow {
  static constexpr int resident = Tuning::resident<whole>();

  template <class T>
  __device__ T operator()(const BlockedEllView<const T>& a, std::int32_t i, int lane, const T* x) const {
    const RowInBlocks<dim, count, T> row(a, i);
    return sum_pieces<count, whole>(row, PiecePlace::of(static_cast<unsigned>(lane), row.parts()),
                                    PiecePlace::of(lanes, row.parts()), x, static_cast<unsigned>(a.cols));
  }
};

/// As many lanes, from `lanes` on, that each has no more pieces than it has in flight, but where rows are long.
template <int dim, int count, bool whole, int lanes = Tuning::min_lanes, class T>
void launch(const Cuda& cuda, const Product<BlockedEllView<const T>>& p) {
  if constexpr (lanes < Tuning::max_lanes)
    if (p.a.ell_cols / count > lanes * BlockTuning::flight) return launch<dim, count, whole, 2 * lanes>(cuda, p);
  launch_rows<lanes>(cuda, p, BlockedEllRow<lanes, dim, count, whole>{});
}

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<BlockedEllView<const T>>& p) {
  constexpr int count = 16 / sizeof(T), few = std::min(count, 2);
  const auto is_whole = [&](int values) {
    return p.a.ell_cols % values == 0 && lie_at_multiples(values * sizeof(T), p.a.values, p.x);
  };
  if (p.a.block_dim == 2 && is_whole(few)) return launch<2, few, true>(cuda, p);
  if (p.a.block_dim == 4 && is_whole(count)) return launch<4, count, true>(cuda, p);
  if (p.a.block_dim == 8 && is_whole(count)) return launch<8, count, true>(cuda, p);
  if (p.a.block_dim == 16 && is_whole(count)) return launch<16, count, true>(cuda, p);
  launch<0, 1, false>(cuda, p);
}

template <class T>
struct BlockedEllCudaInstances {
  static constexpr auto list =
      instance<void(const Cuda&, const Product<BlockedEllView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(BlockedEllCudaInstances);

}  // namespace krill
