#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr std::int64_t tile = 32'768;  // entries and rows of one piece of work: many a thread, each far above its cost

/// The first row of piece t: pieces hold `tile` entries and rows together, whatever the rows look like.
template <class Offset>
std::int64_t first_row(const Offset* row_offsets, std::int64_t rows, std::int64_t t) {
  std::int64_t low = 0, high = rows;
  const std::int64_t base = row_offsets[0];
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (row_offsets[middle] - base + middle < t * tile)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The sum of entries [k, end) of a row, places counted from zero.
template <class T>
T row_sum(const T* values, const std::int32_t* col_indices, std::int32_t base, const T* x, std::int64_t k,
          std::int64_t end) {
  T sum{};
  for (; k < end; ++k) sum += values[k] * x[col_indices[k] - base];
  return sum;
}

}  // namespace

// Pieces of equal work, found by bisection, so that a few long rows do not hold up one thread.
template <class T, class Offset>
void run_product(const Host& host, const Product<CsrView<const T, Offset>>& p) {
  const std::int64_t work = p.a.nnz + p.a.rows, tiles = work / tile + 1;
  const auto run = [&](const Product<CsrView<const T, Offset>>& now, std::int64_t t, std::int64_t) {
    typename DotsView<T>::Sum part;
    const CsrView<const T, Offset>& a = now.a;
    const auto base = static_cast<std::int32_t>(a.base);
    const std::int64_t first = first_row(a.row_offsets, a.rows, t),
                       end_row = t + 1 == tiles ? a.rows : first_row(a.row_offsets, a.rows, t + 1);
    std::int64_t begin = first < end_row ? a.row_offsets[first] - base : 0;
    for (std::int64_t i = first; i < end_row; ++i) {
      const std::int64_t end = a.row_offsets[i + 1] - base;
      const auto mine = now.store(i, row_sum(a.values, a.col_indices, base, now.x, begin, end));
      if (now.dots.wanted()) part += mine;
      begin = end;
    }
    return part;
  };
  for_row_tiles(host, p, tiles, 1, work, run);
}

template <class T, class Offset>
struct CsrHostInstances {
  static constexpr auto list =
      instance<void(const Host&, const Product<CsrView<const kernel_t<T>, Offset>>&)>(run_product);
};
KRILL_INSTANTIATE_WITH_OFFSETS(CsrHostInstances);

}  // namespace krill
