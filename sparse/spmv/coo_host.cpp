#include "sparse/spmv/coo_product.hpp"

namespace krill {

// The first steps would be skipped, and later ones would read what they left out.
template <class T>
void run_product(const Host& host, const Product<CooView<const T>>& p) {
  if (!host.skip.now()) detail::multiply(host, p);
}
template <class T>
void run_product(const Host& host, const Product<HybView<const T>>& p) {
  if (!host.skip.now()) detail::multiply(host, p);
}

KRILL_INSTANTIATE(detail::CooProducts, Host);

}  // namespace krill
