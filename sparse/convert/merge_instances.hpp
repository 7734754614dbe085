// The merges of the conversions, for the backend that the including file calls Where.
#include "krill/sparse/convert/merge.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                                                                            \
  template void merge_rows(const Where&, const CsrView<const NoValue, Offset>&, std::int32_t, BlockColumn, CountKeys); \
  template void merge_rows(const Where&, const CsrView<const NoValue, Offset>&, std::int32_t, BlockColumn, ListKeys);  \
  template void merge_rows(const Where&, const CsrView<const NoValue, Offset>&, std::int32_t, BlockColumn,             \
                           ListKeysPadded);                                                                            \
  template void merge_rows(const Where&, const CsrView<const NoValue, Offset>&, std::int32_t, Diagonal, CountKeys);    \
  template void merge_rows(const Where&, const CsrView<const NoValue, Offset>&, std::int32_t, Diagonal, ListKeys);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace krill
