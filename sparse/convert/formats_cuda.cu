#include "krill/sparse/convert/sell_passes.hpp"
#include "krill/sparse/core/pass_cuda.cuh"

namespace krill {

template <class T>
void adopt_padding(const Cuda& cuda, const SellView<T>& arrays, Padding padding, const std::int32_t* row_lengths) {
  run_pass(cuda, arrays.slices() * arrays.slice_rows, AdoptPadding<T>{arrays, padding, row_lengths});
}

using Where = Cuda;

}  // namespace krill

#include "krill/sparse/convert/format_instances.hpp"
