#include "solvers/batch_passes.hpp"
#include "solvers/bicgstab_passes.hpp"
#include "solvers/gmres_passes.hpp"
#include "solvers/krylov_passes.hpp"
#include "solvers/pcg_passes.hpp"
#include "solvers/richardson_passes.hpp"
#include "solvers/spectrum_passes.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(KrylovPasses, Host);
KRILL_INSTANTIATE(BatchPasses, Host);
KRILL_INSTANTIATE(PcgPasses, Host);
KRILL_INSTANTIATE(RichardsonPasses, Host);
KRILL_INSTANTIATE(GmresPasses, Host);
KRILL_INSTANTIATE(BicgstabPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(SpectrumPasses, Host);
template class RitzPasses<Host>;

}  // namespace krill::detail
