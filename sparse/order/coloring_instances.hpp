// The passes of a coloring, for the backend that the including file calls Where.
#include "krill/sparse/order/coloring_passes.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                                                               \
  template void greedy_colors(const Where&, const Neighbors<Offset>&, const ColorSequence&, std::int32_t, \
                              const std::int32_t*, std::int32_t*);                                        \
  template void run_pass(const Where&, std::int64_t, FarthestBefore<Offset>);                             \
  template void run_pass(const Where&, std::int64_t, SpreadOfFar<Offset>);                                \
  template void run_pass(const Where&, std::int64_t, MarkLong<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE
template void run_pass(const Where&, std::int64_t, Asymmetry);
template void run_pass(const Where&, std::int64_t, FlagLong);
template void run_pass(const Where&, std::int64_t, ListLong);
template void run_pass(const Where&, std::int64_t, NumberColors);

}  // namespace krill
