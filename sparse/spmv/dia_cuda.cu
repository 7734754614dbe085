#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {

/// The sum of row s: a value of each of its hack's diagonals, no index.
template <class T>
__device__ T row_part(const DiaView<const T>& a, std::int32_t s, int, int, const T* x) {
  const std::int32_t hack = s / a.hack_rows, r = s % a.hack_rows;
  const std::int64_t past = a.past_diagonal(hack);
  T sum{};
#pragma unroll 4
  for (std::int64_t d = a.first_diagonal(hack); d < past; ++d) {
    const std::int64_t col = std::int64_t{s} + a.offsets[d];
    const T value = load_streaming(a.values + d * a.hack_rows + r);
    if (col >= 0 && col < a.cols && !(value == T(0))) sum += value * x[col];
  }
  return sum;
}

template <class T>
void run_product(const Cuda& cuda, const Product<DiaView<const T>>& p) {
  launch_rows(cuda, p, 1);
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<DiaView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
