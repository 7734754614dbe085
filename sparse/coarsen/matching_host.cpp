#include "sparse/coarsen/matching_passes.hpp"
#include "sparse/convert/reduce_rows_host.hpp"

namespace krill::detail {

template class PairingPasses<Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingKernels, Host);

}  // namespace krill::detail
