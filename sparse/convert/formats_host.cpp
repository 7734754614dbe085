#include "krill/sparse/convert/sell_passes.hpp"
#include "krill/sparse/core/pass_host.hpp"

namespace krill {

template <class T>
void adopt_padding(const Host& host, const SellView<T>& arrays, Padding padding, const std::int32_t* row_lengths) {
  run_pass(host, arrays.slices() * arrays.slice_rows, AdoptPadding<T>{arrays, padding, row_lengths});
}

using Where = Host;

}  // namespace krill

#include "krill/sparse/convert/format_instances.hpp"
