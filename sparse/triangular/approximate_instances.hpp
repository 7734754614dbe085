// The passes of approximate triangular solves, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/triangular/approximate_passes.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                                  \
  template void run_pass(const Where&, std::int64_t, CountTriangle<Offset>); \
  template void run_pass(const Where&, std::int64_t, TriangleColumns<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

#define INSTANTIATE(T) template void run_pass(const Where&, std::int64_t, ScaleByDiagonal<kernel_t<T>>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T, Offset)                                                                     \
  template void run_pass(const Where&, std::int64_t, InvertTriangleDiagonal<kernel_t<T>, Offset>); \
  template void run_pass(const Where&, std::int64_t, TriangleValues<kernel_t<T>, Offset>);         \
  template void run_pass(const Where&, std::int64_t, ApproximateInverse<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
