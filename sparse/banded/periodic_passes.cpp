#include "sparse/banded/periodic_passes.hpp"

#include "sparse/core/pass_host.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(PeriodicPasses, Host);

}  // namespace krill::detail
