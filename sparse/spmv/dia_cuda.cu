#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/row_kernel.cuh"

namespace krill {
namespace {

/// The sum of row s: a value of each of its hack's diagonals, no index.
struct DiaRow {
  static constexpr int resident = 6;

  template <class T>
  __device__ T operator()(const DiaView<const T>& a, std::int32_t s, int, const T* x) const {
    const std::int32_t hack = s / a.hack_rows;
    const std::int64_t begin = a.first_diagonal(hack);
    auto left = static_cast<std::int32_t>(a.past_diagonal(hack) - begin);
    const std::int32_t* offsets = a.offsets + begin;
    const T* values = a.values + begin * a.hack_rows + s % a.hack_rows;
    T sum{};
    for (; left > 0; left -= in_flight, offsets += in_flight) {
      T entries[in_flight];
#pragma unroll
      for (int u = 0; u < in_flight; ++u, values += a.hack_rows) entries[u] = u < left ? *values : T{};
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const std::int64_t col = u < left ? std::int64_t{s} + offsets[u] : -1;
        if (col >= 0 && col < a.cols && !(entries[u] == T(0))) sum += entries[u] * x[col];
      }
    }
    return sum;
  }
};

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<DiaView<const T>>& p) {
  launch_rows<1>(cuda, p, DiaRow{});
}

#define INSTANTIATE(T) template void run_product(const Cuda&, const Product<DiaView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
