// What is compiled of the products of views that are multiplied row by row.
#pragma once
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/coded_rows.hpp"

namespace krill::detail {

template <class Value, class Where, class T = kernel_t<Value>>
struct StoredRowKernels {
  template <class View>
  static constexpr auto of_view = instance<void(const Where&, const RowProducts<View>&, std::int64_t)>(run_products);
  static constexpr std::tuple list{of_view<SellView<const T>>, of_view<DiaView<const T>>, of_view<CodedRows<const T>>};
};

}  // namespace krill::detail
