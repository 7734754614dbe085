#include "solvers/chebyshev_passes.hpp"
#include "solvers/precond/gauss_seidel_passes.hpp"
#include "solvers/precond/line_passes.hpp"
#include "solvers/precond/lower_precision_passes.hpp"
#include "solvers/precond/precond_passes.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(DiagonalPasses, Host);
KRILL_INSTANTIATE(ChebyshevPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(GaussSeidelPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(LinePasses, Host);
template class LowerPrecisionPasses<double, float, Host>;
template class LowerPrecisionPasses<Complex<double>, Complex<float>, Host>;

}  // namespace krill::detail
