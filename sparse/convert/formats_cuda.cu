#include "sparse/convert/format_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill {

using namespace detail;

template <class T>
void adopt_padding(const Cuda& cuda, const SellView<T>& arrays, Padding padding, const std::int32_t* row_lengths) {
  run_pass(cuda, arrays.slices() * arrays.slice_rows, AdoptPadding<T>{arrays, padding, row_lengths});
}

template void run_pass(const Cuda&, std::int64_t, Conjugate<Complex<float>>);
template void run_pass(const Cuda&, std::int64_t, Conjugate<Complex<double>>);

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE(FormatPasses, Cuda);
template class PatternPasses<std::int32_t, Cuda>;
template class PatternPasses<std::int64_t, Cuda>;

}  // namespace krill::detail
