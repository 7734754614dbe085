#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

/// The sum of row i, block by block.
template <class T>
T row_sum(const BlockedEllView<const T>& a, const T* x, std::int64_t i) {
  const auto first = static_cast<std::int32_t>(a.base);
  const std::int32_t* columns = a.col_indices + i / a.block_dim * a.width();
  const T* values = a.values + i * a.ell_cols;
  T sum{};
  for (std::int64_t k = 0; k < a.width(); ++k, values += a.block_dim) {
    const std::int64_t col = std::int64_t{columns[k] - first} * a.block_dim;
    if (columns[k] < first) continue;
    const std::int64_t count = std::min({std::int64_t{a.block_dim}, a.ell_cols - k * a.block_dim, a.cols - col});
    for (std::int64_t j = 0; j < count; ++j) sum += times_unless_zero(values[j], x[col + j]);
  }
  return sum;
}

}  // namespace

template <class T>
void run_product(const Host& host, const Product<BlockedEllView<const T>>& p) {
  const std::int64_t rows = p.a.rows, work = (p.a.ell_cols + 1) * rows;
  for_row_tiles(host, p, rows, tile_of(rows, work), work,
                [](const Product<BlockedEllView<const T>>& now, std::int64_t begin, std::int64_t end) {
                  typename DotsView<T>::Sum part;
                  for (std::int64_t i = begin; i < end; ++i) part += now.store(i, row_sum(now.a, now.x, i));
                  return part;
                });
}

template <class T>
struct BlockedEllHostInstances {
  static constexpr auto list =
      instance<void(const Host&, const Product<BlockedEllView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(BlockedEllHostInstances);

}  // namespace krill
