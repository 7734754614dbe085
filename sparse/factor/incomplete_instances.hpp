// The passes and factorisations, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/factor/incomplete_passes.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                                  \
  template void run_pass(const Where&, std::int64_t, FindDiagonals<Offset>); \
  template void run_pass(const Where&, std::int64_t, CountItems<Offset>);    \
  template void run_pass(const Where&, std::int64_t, AddItems<Offset>);      \
  template void run_pass(const Where&, std::int64_t, LaySlices<Offset>);     \
  template void run_pass(const Where&, std::int64_t, FillRows<Offset>);      \
  template void run_pass(const Where&, std::int64_t, FindGates<Offset>);     \
  template void run_pass(const Where&, std::int64_t, FillItems<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE
template void run_pass(const Where&, std::int64_t, ClearEvents);

#define INSTANTIATE(T, Offset) template void run_factorization(const Where&, const FactorTask<kernel_t<T>, Offset>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
