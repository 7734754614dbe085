#include "sparse/convert/format_passes.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;

template <class T>
void adopt_padding(const Host& host, const SellView<T>& arrays, Padding padding, const std::int32_t* row_lengths) {
  run_pass(host, arrays.slices() * arrays.slice_rows, AdoptPadding<T>{arrays, padding, row_lengths});
}

template void run_pass(const Host&, std::int64_t, Conjugate<Complex<float>>);
template void run_pass(const Host&, std::int64_t, Conjugate<Complex<double>>);

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE(FormatPasses, Host);
template class PatternPasses<std::int32_t, Host>;
template class PatternPasses<std::int64_t, Host>;

}  // namespace krill::detail
