#include "krill/solvers/bicgstab_passes.hpp"
#include "krill/solvers/gmres_passes.hpp"
#include "krill/solvers/krylov_passes.hpp"
#include "krill/solvers/pcg_passes.hpp"
#include "krill/solvers/richardson_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/pass_host.hpp"

namespace krill {

template void run_pass(const Host&, std::int64_t, StartRecord);
template void run_pass(const Host&, std::int64_t, ResumeRecord);
template void run_pass(const Host&, std::int64_t, GmresEnd);

#define INSTANTIATE(T)                                                               \
  template void run_pass(const Host&, std::int64_t, ImportSystem<kernel_t<T>>);      \
  template void run_pass(const Host&, std::int64_t, ExportSolution<kernel_t<T>>);    \
  template void run_pass(const Host&, std::int64_t, SubtractFrom<kernel_t<T>>);      \
  template void run_pass(const Host&, std::int64_t, ScaleDot<kernel_t<T>>);          \
  template void run_pass(const Host&, std::int64_t, RealDot<kernel_t<T>>);           \
  template void run_pass(const Host&, std::int64_t, PcgDirection<kernel_t<T>>);      \
  template void run_pass(const Host&, std::int64_t, PcgUpdate<kernel_t<T>>);         \
  template void run_pass(const Host&, std::int64_t, RichardsonUpdate<kernel_t<T>>);  \
  template void run_pass(const Host&, std::int64_t, GmresBegin<kernel_t<T>>);        \
  template void run_pass(const Host&, std::int64_t, Orthogonalize<kernel_t<T>>);     \
  template void run_pass(const Host&, std::int64_t, CloseColumn<kernel_t<T>>);       \
  template void run_pass(const Host&, std::int64_t, Normalize<kernel_t<T>>);         \
  template void run_pass(const Host&, std::int64_t, SolveTriangle<kernel_t<T>>);     \
  template void run_pass(const Host&, std::int64_t, Combine<kernel_t<T>>);           \
  template void run_pass(const Host&, std::int64_t, AddTo<kernel_t<T>>);             \
  template void run_pass(const Host&, std::int64_t, BicgstabStart<kernel_t<T>>);     \
  template void run_pass(const Host&, std::int64_t, BicgstabReset<kernel_t<T>>);     \
  template void run_pass(const Host&, std::int64_t, BicgstabDirection<kernel_t<T>>); \
  template void run_pass(const Host&, std::int64_t, BicgstabHalf<kernel_t<T>>);      \
  template void run_pass(const Host&, std::int64_t, BicgstabUpdate<kernel_t<T>>);    \
  template void run_pass(const Host&, std::int64_t, BicgstabSettle<kernel_t<T>>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
