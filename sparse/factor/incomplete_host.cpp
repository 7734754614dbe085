#include <algorithm>

#include "sparse/core/pass_host.hpp"
#include "sparse/factor/incomplete_passes.hpp"
#include "sparse/factor/pivot.hpp"

namespace krill::detail {
namespace {

/// Where the entries of one row stand, by column.
template <class Offset>
class RowIndex {
 public:
  RowIndex(Frame& frame, std::int32_t cols) : places_(frame.take<Offset>(static_cast<std::size_t>(cols))) {
    std::fill_n(places_, cols, Offset{-1});
  }
  void mark(const std::int32_t* cols, Offset from, Offset to) {
    for (Offset k = from; k < to; ++k) places_[cols[k]] = k;
  }
  void clear(const std::int32_t* cols, Offset from, Offset to) {
    for (Offset k = from; k < to; ++k) places_[cols[k]] = -1;
  }
  Offset operator[](std::int32_t col) const { return places_[col]; }

 private:
  Offset* places_;
};

/// Row i minus multiples of the rows above that it has entries for.
template <class T, class Offset>
void eliminate_lu(const FactorTask<T, Offset>& f, const RowIndex<Offset>& row, std::int32_t i) {
  for (Offset e = f.p.a.row_offsets[i]; e < f.p.diagonals[i]; ++e) {
    const std::int32_t k = f.p.a.col_indices[e];
    const Offset pivot = f.p.diagonals[k], end = f.p.a.row_offsets[k + 1];
    const bool has = f.p.has_diagonal(k);
    const T factor = f.to[e] = f.to[e] / (has ? f.to[pivot] : T{});
    for (Offset u = pivot + (has ? 1 : 0); u < end; ++u)
      if (const Offset at = row[f.p.a.col_indices[u]]; at >= 0) f.to[at] -= factor * f.to[u];
  }
}

/// Row i of L by products with the rows above.
template <class T, class Offset>
void eliminate_cholesky(const FactorTask<T, Offset>& f, const RowIndex<Offset>& row, std::int32_t i) {
  const Offset near = f.p.diagonals[i];
  const bool has = f.p.has_diagonal(i);
  for (Offset e = f.p.a.row_offsets[i]; e < near; ++e) {
    const std::int32_t j = f.p.a.col_indices[e];
    T sum = f.to[e];
    for (Offset k = f.p.a.row_offsets[j]; k < f.p.diagonals[j]; ++k)
      if (const Offset at = row[f.p.a.col_indices[k]]; at >= 0) sum -= f.to[at] * conj(f.to[k]);
    f.to[e] = sum / (f.p.has_diagonal(j) ? f.to[f.p.diagonals[j]] : T{});
    if (has) f.to[near] -= f.to[e] * conj(f.to[e]);
  }
}

}  // namespace

template <class T, class Offset>
void run_factorization(const Host& host, const FactorTask<T, Offset>& f) {
  if (host.skip.now()) return;
  Frame frame(host);
  RowIndex<Offset> row(frame, f.p.a.cols);
  std::copy_n(f.values, f.p.a.nnz, f.to);
  for (std::int32_t i = 0; i < f.p.a.rows; ++i) {
    const Offset from = f.p.a.row_offsets[i], end = f.p.end(i), near = f.p.diagonals[i];
    row.mark(f.p.a.col_indices, from, end);
    if (f.p.has_diagonal(i)) f.to[near] = f.shifted(f.to[near]);
    f.p.cholesky ? eliminate_cholesky(f, row, i) : eliminate_lu(f, row, i);
    row.clear(f.p.a.col_indices, from, end);
    if (f.p.has_diagonal(i)) f.to[near] = finished_pivot(f, i, f.to[near]);
  }
}

template <class Offset>
void count_items_of_rows(const Host& host, const FactorPattern<Offset>& p, std::int32_t* items) {
  run_pass(host, p.a.rows, CountItems<Offset>{p, items});
}
template <class Offset>
void fill_items(const Host& host, const FactorPattern<Offset>& p, const ItemPlaces<Offset>& to) {
  run_pass(host, p.a.rows, FillItems<Offset>{p, to});
}

KRILL_INSTANTIATE_WITH_OFFSETS(IncompletePasses, Host);
template class ItemFunctions<std::int32_t, Host>;
template class ItemFunctions<std::int64_t, Host>;

}  // namespace krill::detail
