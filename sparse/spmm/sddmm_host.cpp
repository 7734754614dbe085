#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/spmm/sddmm.hpp"

namespace krill::detail {
namespace {

constexpr std::int64_t block = 4096;  // entries that a thread takes at a time, at least; not varied

/// A line of a dense matrix, from one entry to the next.
template <class T>
struct DenseLine {
  const T* first;
  std::int64_t step;
};
template <class T>
DenseLine<T> row(const DenseView<const T>& m, std::int64_t i) {
  return {&m.at(i, 0), m.order == Order::row_major ? 1 : m.leading_dimension};
}

/// Four sums, so that none waits for the one before.
template <bool side_by_side, class T, class Offset>
auto dot(const EntryDots<T, Offset>& p, const DenseLine<T>& x, const DenseLine<T>& y, std::int32_t n) {
  const std::int64_t step_x = side_by_side ? 1 : x.step, step_y = side_by_side ? 1 : y.step;
  const auto term = [&](std::int64_t k) { return p.term(x.first[k * step_x], y.first[k * step_y]); };
  typename EntryDots<T, Offset>::Sum sums[4] = {};
  std::int32_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (int s = 0; s < 4; ++s) sums[s] += term(k + s);
  for (; k < n; ++k) sums[0] += term(k);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <class T, class Offset>
void run_entry_dots(const Host& host, const EntryDots<T, Offset>& p) {
  if (host.skip.now()) return;
  EntryDots<T, Offset> fixed = p;
  fixed.alpha = {p.alpha()}, fixed.beta = {p.beta()};
  const DenseView<const T> columns = p.b.transposed();
  const std::int32_t inner = p.a.cols;
  const bool side_by_side = p.a.order == Order::row_major && columns.order == Order::row_major;
  for_blocks(host, p.nnz, std::max<std::int64_t>(block / std::max(inner, 1), 256), p.nnz * (inner + std::int64_t{1}),
             [&](std::int64_t begin, std::int64_t end) {
               std::int32_t i = fixed.row_of(static_cast<Offset>(begin), 0, fixed.rows);
               for (std::int64_t e = begin; e < end; ++e) {
                 while (fixed.row_offsets[i + 1] <= e) ++i;
                 const DenseLine<T> x = row(fixed.a, i), y = row(columns, fixed.col_indices[e]);
                 fixed.put(static_cast<Offset>(e),
                           side_by_side ? dot<true>(fixed, x, y, inner) : dot<false>(fixed, x, y, inner));
               }
             });
}

KRILL_INSTANTIATE_WITH_OFFSETS(EntryDotsKernels, Host);
template struct EntryDotsKernels<Half, std::int32_t, Host>;
template struct EntryDotsKernels<BFloat16, std::int32_t, Host>;
template struct EntryDotsKernels<Complex<Half>, std::int32_t, Host>;

}  // namespace krill::detail
