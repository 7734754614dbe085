#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_kernel.cuh"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr int resident = 8;  ///< blocks that a multiprocessor is to hold. Not varied.
  /// Rows of a slice that kernels are compiled for: those of formats that Krill makes. Not varied.
  static constexpr std::int32_t known_slice_rows = 32;
};

/// The sum of stored row s: 12 bytes a place of a double. Streaming loads make 5-point 1024^2 a quarter faster on an
/// H200, and 7-point 256^3 not slower. slice_rows = 0: not known when this is compiled.
template <int slice_rows>
struct SellRow {
  static constexpr int resident = Tuning::resident;

  template <class T>
  __device__ T operator()(const SellView<const T>& a, std::int32_t s, int, const T* x) const {
    const auto first = static_cast<std::int32_t>(a.base);
    const std::int32_t step = slice_rows ? slice_rows : a.slice_rows, slice = s / step;
    std::int64_t at = s % step;
    auto width = static_cast<std::int32_t>(a.width);
    if (a.slice_offsets) {
      const std::int64_t begin = a.slice_offsets[slice];
      width = static_cast<std::int32_t>((a.slice_offsets[slice + 1] - begin) / step);
      at += begin;
    }
    T sum{};
    for (; width > 0; width -= RowTuning::flight) {
      std::int32_t columns[RowTuning::flight];
      T values[RowTuning::flight];
#pragma unroll
      for (int u = 0; u < RowTuning::flight; ++u, at += step)
        if (u < width)
          columns[u] = load_streaming(a.col_indices + at), values[u] = load_streaming(a.values + at);
        else
          columns[u] = first - 1;
#pragma unroll
      for (int u = 0; u < RowTuning::flight; ++u)
        if (columns[u] >= first) sum += values[u] * x[columns[u] - first];
    }
    return sum;
  }
};

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<SellView<const T>>& p) {
  if (p.a.slice_rows == Tuning::known_slice_rows)
    launch_rows<1>(cuda, p, SellRow<Tuning::known_slice_rows>{});
  else
    launch_rows<1>(cuda, p, SellRow<0>{});
}

template <class T>
struct SellCudaInstances {
  static constexpr auto list = instance<void(const Cuda&, const Product<SellView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(SellCudaInstances);

}  // namespace krill
