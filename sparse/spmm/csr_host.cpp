#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/batch.hpp"
#include "sparse/spmm/row_products.hpp"

namespace krill::detail {
template <class T, class Offset>
void run_products(const Host& host, const ManyProducts<T, Offset>& p) {
  run_row_pieces(host, p);
}

template <class T, class Offset>
void run_batch(const Host& host, const ProductBatch<T, Offset>& batch) {
  if (host.skip.now()) return;
  constexpr std::int64_t rows_at_a_time = 1024;
  ProductBatch<T, Offset> fixed = batch;
  fixed.first = with_fixed_scalars(batch.first);
  const auto& a = batch.first.a;
  const std::int64_t pieces = ceil_div(std::int64_t{a.rows}, rows_at_a_time);
  const std::int64_t work = batch.count * (a.nnz + a.rows) * batch.first.b.cols;
  for_blocks(host, batch.count * pieces, 1, work, [&](std::int64_t t, std::int64_t) {
    const ManyProducts<T, Offset> mine = fixed.member(t / pieces);
    const std::int64_t begin = t % pieces * rows_at_a_time;
    multiply_rows(mine, begin, std::min<std::int64_t>(begin + rows_at_a_time, a.rows));
  });
}

template <class T, class Offset>
void run_many_columns(const Host& host, const ManyProducts<T, Offset>& p) {
  run_products(host, p);
}

template <class T, class Offset>
struct HostProducts {
  using Products = ManyProducts<kernel_t<T>, Offset>;
  static constexpr std::tuple list{instance<void(const Host&, const Products&)>(run_products),
                                   instance<void(const Host&, const Products&)>(run_many_columns),
                                   instance<void(const Host&, const ProductBatch<kernel_t<T>, Offset>&)>(run_batch)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(HostProducts);

}  // namespace krill::detail
