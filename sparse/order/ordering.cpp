#include "sparse/order/ordering.hpp"

#include <fmt/format.h>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

Ordering::Ordering(Array<std::int32_t> order) : order_(std::move(order)), inverse_(order_.size(), "inverse ordering") {
  const auto rows = order_.host();
  const auto inverse = inverse_.edit();
  std::fill(inverse.begin(), inverse.end(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t row = rows[i];
    if (row < 0 || row >= size())
      throw InvalidArgument(fmt::format("ordering: order[{}] = {} lies outside 0 to {}", i, row, size() - 1));
    std::int32_t& place = inverse[static_cast<std::size_t>(row)];
    if (place >= 0) throw InvalidArgument(fmt::format("ordering: order[{}] = {} stands at {}, too", i, row, place));
    place = static_cast<std::int32_t>(i);
  }
}

namespace {

template <class T, class Offset>
Csr<T, Offset> moved(Context& ctx, const Csr<T, Offset>& A, const Ordering& ordering, bool with_columns,
                     Array<Offset>& permutation) {
  require_size("reordered: columns of the matrix", A.cols(), A.rows());
  require_size("reordered: the ordering", ordering.size(), A.rows());
  const std::int32_t rows = A.rows();
  const std::int64_t nnz = A.nnz();
  Array<std::int32_t> old_rows(nnz, "row_indices"), new_rows(nnz, "reordered row_indices"),
      new_cols = with_columns ? Array<std::int32_t>(nnz, "reordered col_indices") : copy_of(ctx, A.col_indices());
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* inverse = ordering.inverse().read(where);
    expand_offsets(where, rows, nnz, A.row_offsets().read(where), old_rows.write(where));
    apply_permutation(where, nnz, inverse, old_rows.read(where), new_rows.write(where));
    if (with_columns) apply_permutation(where, nnz, inverse, A.col_indices().read(where), new_cols.write(where));
  });
  permutation = identity_permutation<Offset>(ctx, nnz);
  const IndexRange range{0, std::max(rows - 1, 0)};
  sort_by_row(ctx, new_rows, new_cols, permutation, range, range);
  Array<Offset> row_offsets(rows + std::int64_t{1}, "reordered row_offsets");
  Array<T> values(nnz, "reordered values");
  ctx.dispatch([&](const auto& where) {
    compress_rows(where, rows, nnz, new_rows.read(where), row_offsets.write(where));
    apply_permutation(where, nnz, A.values().read(where), permutation.read(where), values.write(where));
  });
  return {rows, std::move(row_offsets), std::move(new_cols), std::move(values)};
}

}  // namespace

template <class T, class Offset>
Reordered<T, Offset>::Reordered(Context& ctx, const Csr<T, Offset>& A, const Ordering& ordering, bool with_columns)
    : matrix_(moved(ctx, A, ordering, with_columns, permutation_)) {}

template <class T, class Offset>
Reordered<T, Offset>::Reordered(Context& ctx, const Csr<T, Offset>& A, const Ordering& ordering)
    : Reordered(ctx, A, ordering, true) {}

template <class T, class Offset>
Reordered<T, Offset> Reordered<T, Offset>::of_rows(Context& ctx, const Csr<T, Offset>& A, const Ordering& ordering) {
  return {ctx, A, ordering, false};
}

template <class T, class Offset>
HeldMemory Reordered<T, Offset>::memory(MemoryLedger& ledger, const CsrSizes& A) {
  const HeldMemory old_rows = ledger.hold<std::int32_t>(A.nnz), new_rows = ledger.hold<std::int32_t>(A.nnz);
  HeldMemory kept = ledger.hold<std::int32_t>(A.nnz);  // columns
  const HeldMemory permutation = ledger.hold<Offset>(A.nnz);
  sort_by_row_scratch(ledger, A.nnz, sizeof(Offset));
  kept += ledger.hold<Offset>(A.rows + std::int64_t{1});
  kept += ledger.hold<T>(A.nnz);
  return kept;
}

template <class T, class Offset>
void Reordered<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A) {
  require_size("reordered: entries of the matrix", A.nnz(), matrix_.nnz());
  ctx.dispatch([&](const auto& where) {
    apply_permutation(where, A.nnz(), A.values().read(where), permutation_.read(where), matrix_.values().write(where));
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(Reordered);

}  // namespace krill
