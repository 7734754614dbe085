#include "sparse/vector/vector_passes.hpp"

#include "sparse/core/pass_host.hpp"
#include "sparse/vector/sparse_dense_passes.hpp"

namespace krill::detail {

KRILL_INSTANTIATE(VectorPasses, Host);
KRILL_INSTANTIATE(SparseDensePasses, Host);
template struct TwoBytePasses<Half, Host>;
template struct TwoBytePasses<BFloat16, Host>;
template struct BytePasses<Host>;

}  // namespace krill::detail
