#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

/// The sum of entries [k, end) of a row, places counted from zero.
template <class T>
T row_sum(const T* values, const std::int32_t* col_indices, std::int32_t base, const T* x, std::int64_t k,
          std::int64_t end) {
  T sum{};
  for (; k < end; ++k) sum += values[k] * x[col_indices[k] - base];
  return sum;
}

}  // namespace

template <class T, class Offset>
void run_product(const Host& host, const Product<CsrView<const T, Offset>>& p) {
  const RowPieces<CsrView<const T, Offset>> pieces{p.a};
  const auto run = [&](const Product<CsrView<const T, Offset>>& now, std::int64_t t, std::int64_t) {
    typename DotsView<T>::Sum part;
    const CsrView<const T, Offset>& a = now.a;
    const auto base = static_cast<std::int32_t>(a.base);
    const std::int64_t first = pieces.first_row(t), end_row = pieces.first_row(t + 1);
    std::int64_t begin = first < end_row ? a.row_offsets[first] - base : 0;
    for (std::int64_t i = first; i < end_row; ++i) {
      const std::int64_t end = a.row_offsets[i + 1] - base;
      const auto mine = now.store(i, row_sum(a.values, a.col_indices, base, now.x, begin, end));
      if (now.dots.wanted()) part += mine;
      begin = end;
    }
    return part;
  };
  for_row_tiles(host, p, pieces.count(), 1, p.a.nnz + p.a.rows, run);
}

template <class T, class Offset>
struct CsrHostInstances {
  static constexpr auto list =
      instance<void(const Host&, const Product<CsrView<const kernel_t<T>, Offset>>&)>(run_product);
};
KRILL_INSTANTIATE_WITH_OFFSETS(CsrHostInstances);

}  // namespace krill
