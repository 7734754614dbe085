#include "sparse/spmv/mixed_rows.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

/// Tiles of rows in parallel, each with a copy that no store to y can change: it stays in registers.
template <class Rows>
void run_rows(const Host& host, Rows rows) {
  rows.p.alpha = {rows.p.alpha()}, rows.p.beta = {rows.p.beta()};
  const std::int64_t count = rows.p.a.rows, work = rows.p.a.nnz + count;
  for_blocks(host, count, tile_of(count, work), work, [&](std::int64_t begin, std::int64_t end) {
    const Rows mine = rows;
    const auto& a = mine.p.a;
    const auto base = static_cast<std::int64_t>(a.base);
    for (std::int64_t i = begin; i < end; ++i) {
      typename Rows::Sum sum{};
      for (std::int64_t k = a.row_offsets[i] - base, row_end = a.row_offsets[i + 1] - base; k < row_end; ++k)
        sum += mine.term(a.values[mine.places ? mine.places[k] : k], a.col_indices[k]);
      mine.store(i, sum);
    }
  });
}

template <class Product>
void run(const Host& host, Op op, const Product& p) {
  if (host.skip.now()) return;  // with_rows() reads what its passes would not write then
  with_rows(host, op, p, [&](const auto& rows) { run_rows(host, rows); });
}

}  // namespace

template <class Types, class T, class Offset>
void run_product(const Host& host, Op op, const MixedProduct<Types, CsrView<const T, Offset>>& p) {
  run(host, op, p);
}
template <class Types, class T>
void run_product(const Host& host, Op op, const MixedProduct<Types, CooView<const T>>& p) {
  run(host, op, p);
}

template class detail::MixedKernels<Host>;

}  // namespace krill
