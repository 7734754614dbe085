#include "sparse/core/pass_host.hpp"
#include "sparse/spmm/mixed_rows.hpp"
#include "sparse/spmm/row_products.hpp"

namespace krill::detail {

template <class Types>
void run_rows(const Host& host, const MixedRows<Types>& p) {
  run_row_pieces(host, p);
}

template class MixedKernels<Host>;
template struct MixedPasses<Host>;

}  // namespace krill::detail
