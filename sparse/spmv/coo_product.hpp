// Products of coordinates, alone and as a part of HYB, by the kernels of CSR and SELL: on both backends the same steps.
#pragma once
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/as_csr.hpp"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

template <class Where, class T>
void multiply(const Where& where, const Product<CooView<const T>>& p) {
  Frame frame(where);
  const CsrView<const T, std::int64_t> rows = csr_of(where, frame, p.a, p.a.nnz);
  run_product(where, Product<CsrView<const T, std::int64_t>>{p.alpha, rows, p.x, p.beta, p.y, p.dots, p.z});
}

template <class Where, class T>
void multiply(const Where& where, const Product<HybView<const T>>& p) {
  Product<SellView<const T>> first{p.alpha, p.a.ell, p.x, p.beta, p.y, p.dots, p.z};
  if (p.a.coo.nnz == 0) return run_product(where, first);
  first.dots = {};
  run_product(where, first);
  multiply(where, Product<CooView<const T>>{p.alpha, p.a.coo, p.x, {T(1)}, p.y, p.dots});
}

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct CooProducts {
  static constexpr std::tuple list{instance<void(const Where&, const Product<CooView<const T>>&)>(run_product),
                                   instance<void(const Where&, const Product<HybView<const T>>&)>(run_product)};
};

}  // namespace krill::detail
