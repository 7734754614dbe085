#include "sparse/parallel/border_passes.hpp"

#include "sparse/core/pass_host.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(BorderPasses, Host);

}  // namespace krill::detail
