#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/row_products.hpp"
#include "sparse/spmm/stored_rows.hpp"

namespace krill::detail {
namespace {

template <class View>
void multiply_stored_rows(const Host& host, const RowProducts<View>& p, std::int64_t entries) {
  if (host.skip.now()) return;
  const RowProducts<View> fixed = with_fixed_scalars(p);
  const std::int64_t rows = p.a.stored_rows(), work = (entries + rows) * p.b.cols;
  for_blocks(host, rows, tile_of(rows, work), work, [&](std::int64_t begin, std::int64_t end) {
    const RowProducts<View> mine = fixed;
    multiply_rows(mine, begin, end);
  });
}

}  // namespace

template <class T>
void run_products(const Host& host, const RowProducts<SellView<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(host, p, entries);
}
template <class T>
void run_products(const Host& host, const RowProducts<DiaView<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(host, p, entries);
}

KRILL_INSTANTIATE(StoredRowKernels, Host);

}  // namespace krill::detail
