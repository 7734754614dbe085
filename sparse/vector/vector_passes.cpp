#include "sparse/vector/vector_passes.hpp"

#include "sparse/core/pass_host.hpp"
#include "sparse/vector/sparse_dense_passes.hpp"

namespace krill::detail {

template <class Steps>
void run_entries(const Host& host, std::int64_t n, Steps steps) {
  if (host.skip.now() || !steps.begin()) return;
  for_each_index(host, n, [steps](std::int64_t k) { steps.store(k, steps.load(k)); });
}

KRILL_INSTANTIATE(VectorPasses, Host);
KRILL_INSTANTIATE(SparseDensePasses, Host);
template struct TwoBytePasses<Half, Host>;
template struct TwoBytePasses<BFloat16, Host>;
template struct BytePasses<Host>;

}  // namespace krill::detail
