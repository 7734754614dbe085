// The passes of a scaling, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/scale/scaling_passes.hpp"

namespace krill {

#define INSTANTIATE(T, Offset)                                                             \
  template void run_pass(const Where&, std::int64_t, RowMaxima<kernel_t<T>, Offset>);      \
  template void run_pass(const Where&, std::int64_t, DiagonalModuli<kernel_t<T>, Offset>); \
  template void run_pass(const Where&, std::int64_t, ScaleEntries<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(T) template void run_pass(const Where&, std::int64_t, ScaleVector<kernel_t<T>>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE
template void run_pass(const Where&, std::int64_t, TakeGreater);
template void run_pass(const Where&, std::int64_t, DivideByRoots);
template void run_pass(const Where&, std::int64_t, RoundFactors<float>);
template void run_pass(const Where&, std::int64_t, RoundFactors<double>);

}  // namespace krill
