#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_kernel.cuh"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr int resident = 8;  ///< blocks that a multiprocessor is to hold. Not varied.
};

/// The sum of row s: a value of each of its hack's diagonals, no index. x is asked for before the value is known to be
/// no zero, so that the two reads overlap.
struct DiaRow {
  static constexpr int resident = Tuning::resident;

  template <class T>
  __device__ T operator()(const DiaView<const T>& a, std::int32_t s, int, const T* x) const {
    const std::int32_t hack = s / a.hack_rows;
    const std::int64_t begin = a.first_diagonal(hack);
    auto left = static_cast<std::int32_t>(a.end_diagonal(hack) - begin);
    const std::int32_t* offsets = a.offsets + begin;
    const T* values = a.values + begin * a.hack_rows + s % a.hack_rows;
    T sum{};
    for (; left > 0; left -= RowTuning::flight, offsets += RowTuning::flight) {
      T entries[RowTuning::flight], factors[RowTuning::flight];
#pragma unroll
      for (int u = 0; u < RowTuning::flight; ++u, values += a.hack_rows) {
        entries[u] = u < left ? load_streaming(values) : T{};
        // what is negative becomes larger than any column
        const std::uint32_t col =
            u < left ? static_cast<std::uint32_t>(s) + static_cast<std::uint32_t>(offsets[u]) : ~0u;
        const bool inside = col < static_cast<std::uint32_t>(a.cols);
        factors[u] = inside ? x[col] : T{};
        if (!inside) entries[u] = T{};
      }
#pragma unroll
      for (int u = 0; u < RowTuning::flight; ++u) sum += times_unless_zero(entries[u], factors[u]);
    }
    return sum;
  }
};

}  // namespace

template <class T>
void run_product(const Cuda& cuda, const Product<DiaView<const T>>& p) {
  launch_rows<1>(cuda, p, DiaRow{});
}

template <class T>
struct DiaCudaInstances {
  static constexpr auto list = instance<void(const Cuda&, const Product<DiaView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(DiaCudaInstances);

}  // namespace krill
