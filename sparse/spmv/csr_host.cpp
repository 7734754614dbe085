#include <algorithm>

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/pass_host.hpp"
#include "krill/sparse/spmv/spmv.hpp"

namespace krill {
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

template <class T, class Offset>
T row_sum(const CsrView<const T, Offset>& a, const T* x, std::int64_t i) {
  const auto base = static_cast<std::int32_t>(a.base);
  T sum{};
  for (Offset k = a.row_offsets[i] - base, end = a.row_offsets[i + 1] - base; k < end; ++k)
    sum += a.values[k] * x[a.col_indices[k] - base];
  return sum;
}

}  // namespace

// Pieces of equal work, found by bisection, so that a few long rows do not hold up one thread; their parts of the dots
// are added in order, so the result does not depend on the number of threads.
template <class T, class Offset>
void csr_spmv(const Host& host, const CsrProduct<T, Offset>& p) {
  if (host.skip.now()) return;
  using Sum = typename DotsView<T>::Sum;
  const std::int64_t work = p.a.nnz + p.a.rows, tiles = work / tile + 1;
  Frame frame(host);
  Sum* parts = frame.take<Sum>(static_cast<std::size_t>(tiles));
  for_blocks(host, tiles, 1, work, [&](std::int64_t t, std::int64_t) {
    Sum part;
    const std::int64_t end = t + 1 == tiles ? p.a.rows : first_row(p.a.row_offsets, p.a.rows, t + 1);
    for (std::int64_t i = first_row(p.a.row_offsets, p.a.rows, t); i < end; ++i) {
      const Sum mine = p.store(i, row_sum(p.a, p.x, i));
      if (p.dots.wanted()) part += mine;
    }
    parts[t] = part;
  });
  Sum total;
  for (std::int64_t t = 0; t < tiles; ++t) total += parts[t];
  p.dots.finish(total);
}

#define INSTANTIATE(T, Offset) template void csr_spmv(const Host&, const CsrProduct<kernel_t<T>, Offset>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
