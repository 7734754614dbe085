// The passes and systems of sparse approximate inverses, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/inverse/sparse_inverse_passes.hpp"

namespace krill {

template void run_pass(const Where&, std::int64_t, FindBadInverses);

#define INSTANTIATE(Offset)                                                 \
  template void run_pass(const Where&, std::int64_t, CountInverse<Offset>); \
  template void run_pass(const Where&, std::int64_t, InverseColumns<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

#define INSTANTIATE(T, Offset)                                                               \
  template void run_pass(const Where&, std::int64_t, FindNotHermitian<kernel_t<T>, Offset>); \
  template void solve_inverse(const Where&, const InverseTask<kernel_t<T>, Offset>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
