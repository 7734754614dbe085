// The passes that lay a triangle out, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/triangular/triangular_passes.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                               \
  template void run_pass(const Where&, std::int64_t, LocateRows<Offset>); \
  template void run_pass(const Where&, std::int64_t, FillTriangleColumns<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE
template void run_pass(const Where&, std::int64_t, CountTasks);
template void run_pass(const Where&, std::int64_t, FillTasks);
template void run_pass(const Where&, std::int64_t, FindWaits);

#define INSTANTIATE(T, Offset) template void run_pass(const Where&, std::int64_t, FillTriangle<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T) \
  template void run_solve(const Where&, const TriangularSolve<kernel_t<T>>&, std::span<const std::int32_t>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
