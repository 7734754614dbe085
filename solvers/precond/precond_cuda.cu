#include "solvers/chebyshev_passes.hpp"
#include "solvers/precond/gauss_seidel_passes.hpp"
#include "solvers/precond/line_passes.hpp"
#include "solvers/precond/lower_precision_passes.hpp"
#include "solvers/precond/precond_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

KRILL_INSTANTIATE(DiagonalPasses, Cuda);
KRILL_INSTANTIATE(ChebyshevPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(GaussSeidelPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(LinePasses, Cuda);
template class LowerPrecisionPasses<double, float, Cuda>;
template class LowerPrecisionPasses<Complex<double>, Complex<float>, Cuda>;

}  // namespace krill::detail
