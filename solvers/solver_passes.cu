#include "solvers/batch_passes.hpp"
#include "solvers/bicgstab_passes.hpp"
#include "solvers/gmres_passes.hpp"
#include "solvers/krylov_passes.hpp"
#include "solvers/pcg_passes.hpp"
#include "solvers/richardson_passes.hpp"
#include "solvers/spectrum_passes.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

KRILL_INSTANTIATE(KrylovPasses, Cuda);
KRILL_INSTANTIATE(BatchPasses, Cuda);
KRILL_INSTANTIATE(PcgPasses, Cuda);
KRILL_INSTANTIATE(RichardsonPasses, Cuda);
KRILL_INSTANTIATE(GmresPasses, Cuda);
KRILL_INSTANTIATE(BicgstabPasses, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(SpectrumPasses, Cuda);
template class RitzPasses<Cuda>;

}  // namespace krill::detail
