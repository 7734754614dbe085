// The blocks of the conversions, for the backend that the including file calls Where.
#include "krill/sparse/convert/fill_blocks.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

#define INSTANTIATE(T, Offset)                                                                                  \
  template void fill_blocks(const Where&, const CsrView<const kernel_t<T>, Offset>&, BsrPlaces<kernel_t<T>>);   \
  template void fill_blocks(const Where&, const CsrView<const kernel_t<T>, Offset>&, GebscPlaces<kernel_t<T>>); \
  template void fill_blocks(const Where&, const CsrView<const kernel_t<T>, Offset>&, BlockedEllPlaces<kernel_t<T>>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
