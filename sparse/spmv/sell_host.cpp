#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr int strip = 64;  // rows whose sums are carried through the columns of a slice together

/// sums[r] for `count` stored rows of one slice, from `begin` on.
template <class T>
void strip_sums(const SellView<const T>& a, const T* x, std::int32_t begin, std::int32_t count, T* sums) {
  const auto first = static_cast<std::int32_t>(a.base);
  for (std::int32_t r = 0; r < count; ++r) sums[r] = T{};
  std::int64_t at = a.begin(begin);
  for (std::int64_t k = a.width_of(begin); k > 0; --k, at += a.slice_rows) {
    const std::int32_t* columns = a.col_indices + at;
    const T* values = a.values + at;
    for (std::int32_t r = 0; r < count; ++r)
      if (columns[r] >= first) sums[r] += values[r] * x[columns[r] - first];
  }
}

}  // namespace

// A slice's columns one after the other, over strips of its rows whose sums stay in the cache.
template <class T>
void run_product(const Host& host, const Product<SellView<const T>>& p) {
  const std::int64_t rows = p.a.rows;
  const std::int64_t places = p.a.slice_offsets ? p.a.slice_offsets[p.a.slices()] : p.a.width * rows;
  const std::int64_t strips_a_slice = detail::ceil_div(p.a.slice_rows, strip);
  const std::int64_t slices = detail::ceil_div(rows, p.a.slice_rows), strips = slices * strips_a_slice;
  const auto run = [&](const Product<SellView<const T>>& now, std::int64_t begin, std::int64_t end) {
    typename DotsView<T>::Sum part;
    T sums[strip];
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t slice = s / strips_a_slice;
      const std::int64_t first = slice * now.a.slice_rows + s % strips_a_slice * strip;
      const std::int64_t strip_end = std::min({first + strip, (slice + 1) * now.a.slice_rows, rows});
      if (first >= strip_end) continue;
      strip_sums(now.a, now.x, static_cast<std::int32_t>(first), static_cast<std::int32_t>(strip_end - first), sums);
      for (std::int64_t i = first; i < strip_end; ++i)
        part += now.store(now.a.row_of(static_cast<std::int32_t>(i)), sums[i - first]);
    }
    return part;
  };
  for_row_tiles(host, p, strips, tile_of(strips, places + rows), places + rows, run);
}

template <class T>
struct SellHostInstances {
  static constexpr auto list = instance<void(const Host&, const Product<SellView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(SellHostInstances);

}  // namespace krill
