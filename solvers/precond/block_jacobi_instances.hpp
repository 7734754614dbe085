// The passes and inversions of block Jacobi, for the backend that the including file calls Where.
#include "krill/solvers/precond/block_jacobi_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

template void run_pass(const Where&, std::int64_t, ClearBlockEvents);

#define INSTANTIATE(T, Offset) \
  template void run_pass(const Where&, std::int64_t, GatherDiagonalBlocks<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                \
  template void run_pass(const Where&, std::int64_t, MultiplyBlocks<kernel_t<T>>);    \
  template void run_pass(const Where&, std::int64_t, MultiplyBlocksDot<kernel_t<T>>); \
  template void invert_blocks(const Where&, std::int64_t, BlockLayout, kernel_t<T>*, std::int32_t*);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
