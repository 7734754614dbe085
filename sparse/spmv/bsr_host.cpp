#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

/// sums[i] += what a block of `cols` columns adds to row i of its block row.
template <class T>
void add_block(const Blocking& blocks, const T* values, const T* x, std::int64_t cols, T* sums) {
  const std::int32_t rows = blocks.row_dim;
  if (blocks.order == BlockOrder::row_major) {
    for (std::int32_t i = 0; i < rows; ++i) {
      T sum{};
      for (std::int64_t j = 0; j < cols; ++j) sum += times_unless_zero(values[i * blocks.col_dim + j], x[j]);
      sums[i] += sum;
    }
  } else {
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int32_t i = 0; i < rows; ++i) sums[i] += times_unless_zero(values[j * rows + i], x[j]);
  }
}

/// sums[i] for the rows of a block row.
template <class T>
void block_row_sums(const BsrView<const T>& a, const T* x, std::int64_t block_row, T* sums) {
  const auto first = static_cast<std::int32_t>(a.base);
  for (std::int32_t i = 0; i < a.blocks.row_dim; ++i) sums[i] = T{};
  for (std::int64_t k = a.row_begins[block_row] - first; k < a.row_ends[block_row] - first; ++k) {
    const std::int64_t col = std::int64_t{a.col_indices[k] - first} * a.blocks.col_dim;
    add_block(a.blocks, a.values + k * a.blocks.size(), x + col, std::min<std::int64_t>(a.blocks.col_dim, a.cols - col),
              sums);
  }
}

}  // namespace

template <class T>
void run_product(const Host& host, const Product<BsrView<const T>>& p) {
  const std::int64_t block_rows = p.mask ? p.mask_size : p.a.block_rows();
  const std::int64_t work = p.a.stored_blocks * p.a.blocks.size() + p.a.rows;
  const auto run = [&](const Product<BsrView<const T>>& now, std::int64_t begin, std::int64_t end) {
    typename DotsView<T>::Sum part;
    T sums[largest_block_dim];
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t block_row = now.block_row(b), first = block_row * now.a.blocks.row_dim;
      block_row_sums(now.a, now.x, block_row, sums);
      for (std::int64_t i = first; i < std::min<std::int64_t>(first + now.a.blocks.row_dim, now.a.rows); ++i)
        part += now.store(i, sums[i - first]);
    }
    return part;
  };
  for_row_tiles(host, p, block_rows, tile_of(block_rows, work), work, run);
}

template <class T>
struct BsrHostInstances {
  static constexpr auto list = instance<void(const Host&, const Product<BsrView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(BsrHostInstances);

}  // namespace krill
