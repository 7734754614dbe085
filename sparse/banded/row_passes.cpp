#include "sparse/banded/row_passes.hpp"

#include "sparse/core/pass_host.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(BandRowPasses, Host);

}  // namespace krill::detail
