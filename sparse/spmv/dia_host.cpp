#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr int strip = 512;  // rows whose sums are carried through the diagonals together

/// sums[r] for the rows begin .. end of one hack.
template <class T>
void strip_sums(const DiaView<const T>& a, const T* x, std::int64_t begin, std::int64_t end, T* sums) {
  const auto hack = static_cast<std::int32_t>(begin / a.hack_rows);
  const std::int64_t first_row = std::int64_t{hack} * a.hack_rows;
  for (std::int64_t i = begin; i < end; ++i) sums[i - begin] = T{};
  for (std::int64_t d = a.first_diagonal(hack); d < a.end_diagonal(hack); ++d) {
    const std::int64_t offset = a.offsets[d];
    const std::int64_t from = std::max(begin, -offset), to = std::min(end, a.cols - offset);
    const T* values = a.values + d * a.hack_rows - first_row;
    for (std::int64_t i = from; i < to; ++i) sums[i - begin] += times_unless_zero(values[i], x[i + offset]);
  }
}

}  // namespace

// Diagonal by diagonal over strips of rows whose sums stay in the cache.
template <class T>
void run_product(const Host& host, const Product<DiaView<const T>>& p) {
  const std::int64_t rows = p.a.rows, hack_rows = p.a.hack_rows, work = p.a.diagonals * hack_rows + rows;
  const std::int64_t strips_a_hack = detail::ceil_div(hack_rows, strip);
  const std::int64_t strips = detail::ceil_div(rows, hack_rows) * strips_a_hack;
  const auto run = [&](const Product<DiaView<const T>>& now, std::int64_t begin, std::int64_t end) {
    typename DotsView<T>::Sum part;
    T sums[strip];
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t hack = s / strips_a_hack, first = hack * hack_rows + s % strips_a_hack * strip;
      const std::int64_t strip_end = std::min({first + strip, (hack + 1) * hack_rows, rows});
      if (first >= strip_end) continue;
      strip_sums(now.a, now.x, first, strip_end, sums);
      for (std::int64_t i = first; i < strip_end; ++i) part += now.store(i, sums[i - first]);
    }
    return part;
  };
  for_row_tiles(host, p, strips, tile_of(strips, work), work, run);
}

template <class T>
struct DiaHostInstances {
  static constexpr auto list = instance<void(const Host&, const Product<DiaView<const kernel_t<T>>>&)>(run_product);
};
KRILL_INSTANTIATE(DiaHostInstances);

}  // namespace krill
