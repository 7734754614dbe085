#include "sparse/spmv/coo_product.hpp"

namespace krill {

template <class T>
void run_product(const Cuda& cuda, const Product<CooView<const T>>& p) {
  detail::multiply(cuda, p);
}
template <class T>
void run_product(const Cuda& cuda, const Product<HybView<const T>>& p) {
  detail::multiply(cuda, p);
}

KRILL_INSTANTIATE(detail::CooProducts, Cuda);

}  // namespace krill
