#include "sparse/formats/block_tridiagonal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/core/instantiate.hpp"

namespace krill {

void require_blocks(std::string_view what, const BandLayout& blocks, int size) {
  require_range(fmt::format("{}: size of blocks", what), size, 1, largest_tridiagonal_block);
  require_layout(what, blocks);
  require(std::int64_t{blocks.rows} * size <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("{}: {} block rows of {} are more unknowns than 2^31 - 1", what, blocks.rows, size));
  constexpr std::int64_t most = std::int64_t{1} << 59;
  require(blocks.extent() <= most / (size * size),
          fmt::format("{}: {} block rows of {} systems with strides {} and {} are more than memory has", what,
                      blocks.rows, blocks.batch, blocks.row_stride, blocks.batch_stride));
}

template <class T>
BlockTridiagonal<T>::BlockTridiagonal(const BandLayout& layout, int size) : layout_(layout), size_(size) {
  require_blocks("block tridiagonal", layout, size);
  const auto entries = static_cast<std::size_t>(layout.extent() * size * size);
  lower_ = Array<T>(std::vector<T>(entries), "lower blocks");
  diagonal_ = Array<T>(std::vector<T>(entries), "diagonal blocks");
  upper_ = Array<T>(std::vector<T>(entries), "upper blocks");
}

template <class T>
BlockTridiagonal<T>::BlockTridiagonal(const BandLayout& layout, int size, Array<T> lower, Array<T> diagonal,
                                      Array<T> upper)
    : layout_(layout), size_(size), lower_(std::move(lower)), diagonal_(std::move(diagonal)), upper_(std::move(upper)) {
  require_blocks("block tridiagonal", layout, size);
  for (int k = -1; k <= 1; ++k)
    require_size(fmt::format("block tridiagonal: block diagonal {}", k), band(k).size(), layout.extent() * size * size);
}

template <class T>
const Array<T>& BlockTridiagonal<T>::band(int k) const {
  require(-1 <= k && k <= 1, fmt::format("block tridiagonal: block diagonal {}, -1 to 1 are there", k));
  return k < 0 ? lower_ : k > 0 ? upper_ : diagonal_;
}

template <class T>
Bsr<T> BlockTridiagonal<T>::to_bsr(std::int32_t j) const {
  require(0 <= j && j < layout_.batch, fmt::format("block tridiagonal: system {} of a batch of {}", j, layout_.batch));
  const std::int64_t entries = std::int64_t{size_} * size_;
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t i = 0; i < layout_.rows; ++i) {
    for (int k = -1; k <= 1; ++k) {
      if (i + k < 0 || i + k >= layout_.rows) continue;
      columns.push_back(i + k);
      const auto block = band(k).host().subspan(static_cast<std::size_t>(layout_.at(i, j) * entries),
                                                static_cast<std::size_t>(entries));
      values.insert(values.end(), block.begin(), block.end());
    }
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  const std::int64_t n = std::int64_t{layout_.rows} * size_;
  return {n,
          n,
          {size_, size_},
          Array<std::int32_t>(std::move(offsets)),
          Array<std::int32_t>(std::move(columns)),
          Array<T>(std::move(values))};
}

KRILL_INSTANTIATE(BlockTridiagonal);

}  // namespace krill
