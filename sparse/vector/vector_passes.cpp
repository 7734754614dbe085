#include "krill/sparse/vector/vector_passes.hpp"

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/pass_host.hpp"
#include "krill/sparse/vector/sparse_dense_passes.hpp"

namespace krill {

#define INSTANTIATE(T)                                                            \
  template void run_pass(const Host&, std::int64_t, Fill<kernel_t<T>>);           \
  template void run_pass(const Host&, std::int64_t, Axpby<kernel_t<T>>);          \
  template void run_pass(const Host&, std::int64_t, Multiply<kernel_t<T>>);       \
  template void run_pass(const Host&, std::int64_t, Dot<kernel_t<T>>);            \
  template void run_pass(const Host&, std::int64_t, Norm2<kernel_t<T>>);          \
  template void run_pass(const Host&, std::int64_t, MaxAbs<kernel_t<T>>);         \
  template void run_pass(const Host&, std::int64_t, CountNonzero<kernel_t<T>>);   \
  template void run_pass(const Host&, std::int64_t, FillNonzeros<kernel_t<T>>);   \
  template void run_pass(const Host&, std::int64_t, ScaleAll<kernel_t<T>>);       \
  template void run_pass(const Host&, std::int64_t, GatherEntries<kernel_t<T>>);  \
  template void run_pass(const Host&, std::int64_t, ClearEntries<kernel_t<T>>);   \
  template void run_pass(const Host&, std::int64_t, ScatterEntries<kernel_t<T>>); \
  template void run_pass(const Host&, std::int64_t, AddEntries<kernel_t<T>>);     \
  template void run_pass(const Host&, std::int64_t, RotateEntries<kernel_t<T>>);  \
  template void run_pass(const Host&, std::int64_t, DotEntries<kernel_t<T>>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
