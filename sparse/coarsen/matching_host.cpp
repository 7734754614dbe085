#include "sparse/coarsen/matching_passes.hpp"
#include "sparse/coarsen/row_passes_host.hpp"

namespace krill::detail {

template class PairingPasses<Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingKernels, Host);

}  // namespace krill::detail
