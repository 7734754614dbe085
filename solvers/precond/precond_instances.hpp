// The passes of preconditioners, for the backend that the including file calls Where.
#include "krill/solvers/precond/chebyshev_passes.hpp"
#include "krill/solvers/precond/gauss_seidel_passes.hpp"
#include "krill/solvers/precond/lower_precision_passes.hpp"
#include "krill/solvers/precond/precond_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

#define INSTANTIATE(T)                                                               \
  template void run_pass(const Where&, std::int64_t, InvertDiagonal<kernel_t<T>>);   \
  template void run_pass(const Where&, std::int64_t, InvertPositive<kernel_t<T>>);   \
  template void run_pass(const Where&, std::int64_t, StartLanczos<kernel_t<T>>);     \
  template void run_pass(const Where&, std::int64_t, LanczosDirection<kernel_t<T>>); \
  template void run_pass(const Where&, std::int64_t, LanczosResidual<kernel_t<T>>);  \
  template void run_pass(const Where&, std::int64_t, StartChebyshev<kernel_t<T>>);   \
  template void run_pass(const Where&, std::int64_t, StepChebyshev<kernel_t<T>>);    \
  template void run_pass(const Where&, std::int64_t, EndChebyshev<kernel_t<T>>);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(High, Low)                                                  \
  template void run_pass(const Where&, std::int64_t, LowerValues<High, Low>);   \
  template void run_pass(const Where&, std::int64_t, ConvertVector<High, Low>); \
  template void run_pass(const Where&, std::int64_t, ConvertVector<Low, High>); \
  template void run_pass(const Where&, std::int64_t, RaiseDot<Low, High>);
INSTANTIATE(double, float)
INSTANTIATE(Complex<double>, Complex<float>)
#undef INSTANTIATE

#define INSTANTIATE(T, Offset)                                                        \
  template void run_pass(const Where&, std::int64_t, BoundRows<kernel_t<T>, Offset>); \
  template void run_pass(const Where&, std::int64_t, SplitSsor<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
