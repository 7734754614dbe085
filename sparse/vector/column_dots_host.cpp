#include <algorithm>

#include "sparse/core/pass_host.hpp"
#include "sparse/vector/column_dots.hpp"

namespace krill {

using namespace detail;

// Rows in parts of one length, whatever the number of threads; a part's lines are gone along in the order of X's
// memory.
template <class T>
void run_column_dots(const Host& host, const DenseView<const T>& x, const DenseView<const T>& y, wide_t<T>* results) {
  if (host.skip.now()) return;
  constexpr std::int64_t part = 2048;  // rows. Not varied.
  const std::int64_t parts = ceil_div(std::int64_t{x.rows}, part), cols = x.cols;
  Frame frame(host);
  auto* const sums = frame.take<wide_t<T>>(static_cast<std::size_t>(parts * cols));  // those of a part side by side
  for_blocks(host, parts, 1, x.rows * cols, [&](std::int64_t n, std::int64_t) {
    wide_t<T>* const mine = sums + n * cols;
    std::fill_n(mine, cols, wide_t<T>{});
    const std::int64_t first = n * part, end = std::min<std::int64_t>(x.rows, first + part);
    const auto add = [&](std::int64_t i, std::int64_t j) { mine[j] += conj(wide(x.at(i, j))) * wide(y.at(i, j)); };
    if (x.order == Order::row_major)
      for (std::int64_t i = first; i < end; ++i)
        for (std::int64_t j = 0; j < cols; ++j) add(i, j);
    else
      for (std::int64_t j = 0; j < cols; ++j)
        for (std::int64_t i = first; i < end; ++i) add(i, j);
  });
  for (std::int64_t j = 0; j < cols; ++j) {
    wide_t<T> sum{};
    for (std::int64_t n = 0; n < parts; ++n) sum += sums[n * cols + j];
    results[j] = sum;
  }
}

KRILL_INSTANTIATE(detail::ColumnDotsKernels, Host);

}  // namespace krill
