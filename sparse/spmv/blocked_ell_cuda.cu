#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {
namespace {

/// The places lane, lane + lanes, ... of row i, which lie side by side. dim = 0: the block's size is not known when
/// this is compiled. x is asked for before the value is known to be no zero.
template <int lanes, int dim>
struct BlockedEllRow {
  static constexpr int resident = 8;

  template <class T>
  __device__ T operator()(const BlockedEllView<const T>& a, std::int32_t i, int lane, const T* x) const {
    const auto ell_cols = static_cast<std::uint32_t>(a.ell_cols);
    const std::uint32_t size = dim ? dim : static_cast<std::uint32_t>(a.block_dim);
    const auto first = static_cast<std::int32_t>(a.base);
    const std::int32_t* blocks = a.col_indices + static_cast<std::uint32_t>(i) / size * a.width();
    const T* row = a.values + i * a.ell_cols;
    T sum{};
    for (auto c = static_cast<std::uint32_t>(lane); c < ell_cols; c += in_flight * lanes) {
      T values[in_flight], factors[in_flight];
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const std::uint32_t place = c + u * lanes;
        const std::int32_t block = place < ell_cols ? blocks[place / size] - first : -1;
        values[u] = place < ell_cols ? load_streaming(row + place) : T{};
        const std::uint32_t col = static_cast<std::uint32_t>(block) * size + place % size;
        const bool inside = block >= 0 && col < static_cast<std::uint32_t>(a.cols);
        factors[u] = inside ? x[col] : T{};
        if (!inside) values[u] = T{};
      }
#pragma unroll
      for (int u = 0; u < in_flight; ++u) sum += times_unless_zero(values[u], factors[u]);
    }
    return sum;
  }
};

template <int dim, class T>
void launch(const Cuda& cuda, const Product<BlockedEllView<const T>>& p) {
  if (p.a.ell_cols > 32)
    launch_rows<16>(cuda, p, BlockedEllRow<16, dim>{});
  else if (p.a.ell_cols > 16)
    launch_rows<8>(cuda, p, BlockedEllRow<8, dim>{});
  else
    launch_rows<4>(cuda, p, BlockedEllRow<4, dim>{});
}

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<BlockedEllView<const T>>& p) {
  switch (p.a.block_dim) {
    case 2:
      return launch<2>(cuda, p);
    case 4:
      return launch<4>(cuda, p);
    case 8:
      return launch<8>(cuda, p);
    case 16:
      return launch<16>(cuda, p);
    default:
      return launch<0>(cuda, p);
  }
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<BlockedEllView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
