#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {

/// The places lane, lane + lanes, ... of row i, which lie side by side.
template <class T>
__device__ T row_part(const BlockedEllView<const T>& a, std::int32_t i, int lane, int lanes, const T* x) {
  T sum{};
#pragma unroll 4
  for (std::int64_t c = lane; c < a.ell_cols; c += lanes) {
    const std::int64_t col = a.col(i, c);
    const T value = load_streaming(a.values + i * a.ell_cols + c);
    if (col >= 0 && !(value == T(0))) sum += value * x[col];
  }
  return sum;
}

template <class T>
void run_product(const Cuda& cuda, const Product<BlockedEllView<const T>>& p) {
  launch_rows(cuda, p, p.a.ell_cols >= 32 ? 8 : 4);
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<BlockedEllView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
