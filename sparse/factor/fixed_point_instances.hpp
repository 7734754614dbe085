// The passes of factorisations by sweeps, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/factor/fixed_point_passes.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                              \
  template void run_pass(const Where&, std::int64_t, CountPart<Offset>); \
  template void run_pass(const Where&, std::int64_t, FillPart<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

#define INSTANTIATE(T) template void run_pass(const Where&, std::int64_t, CopyEntries<kernel_t<T>>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T, Offset)                                                           \
  template void run_pass(const Where&, std::int64_t, FirstGuess<kernel_t<T>, Offset>);   \
  template void run_pass(const Where&, std::int64_t, FactorSweep<kernel_t<T>, Offset>);  \
  template void run_pass(const Where&, std::int64_t, StoreFactor<kernel_t<T>, Offset>);  \
  template void run_pass(const Where&, std::int64_t, GatherFactor<kernel_t<T>, Offset>); \
  template void run_pass(const Where&, std::int64_t, FactorResidual<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
