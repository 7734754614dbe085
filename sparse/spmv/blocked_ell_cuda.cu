#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {
namespace {

/// The places lane, lane + lanes, ... of row i, which lie side by side.
template <int lanes>
struct BlockedEllRow {
  static constexpr int resident = 6;

  template <class T>
  __device__ T operator()(const BlockedEllView<const T>& a, std::int32_t i, int lane, const T* x) const {
    const auto ell_cols = static_cast<std::uint32_t>(a.ell_cols), dim = static_cast<std::uint32_t>(a.block_dim);
    const auto first = static_cast<std::int32_t>(a.base);
    const std::int32_t* blocks = a.col_indices + i / a.block_dim * a.width();
    const T* row = a.values + i * a.ell_cols;
    T sum{};
    for (auto c = static_cast<std::uint32_t>(lane); c < ell_cols; c += in_flight * lanes) {
      std::int32_t columns[in_flight];
      T values[in_flight];
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const std::uint32_t place = c + u * lanes;
        columns[u] = place < ell_cols ? blocks[place / dim] - first : -1;
        if (place < ell_cols) values[u] = load_streaming(row + place);
      }
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const std::int64_t col = std::int64_t{columns[u]} * dim + (c + u * lanes) % dim;
        if (columns[u] >= 0 && col < a.cols && !(values[u] == T(0))) sum += values[u] * x[col];
      }
    }
    return sum;
  }
};

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<BlockedEllView<const T>>& p) {
  if (p.a.ell_cols >= 32)
    launch_rows<8>(cuda, p, BlockedEllRow<8>{});
  else
    launch_rows<4>(cuda, p, BlockedEllRow<4>{});
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<BlockedEllView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
