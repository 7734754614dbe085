// CSR of what is stored by rows, by the passes of to_csr_passes.hpp.
#pragma once
#include "sparse/convert/checked_offsets.hpp"
#include "sparse/convert/to_csr_passes.hpp"

namespace krill::detail {

/// CSR of the row view that view_on(where) gives.
template <class T, class Offset, class ViewOn>
Csr<T, Offset> rows_to_csr(Context& ctx, std::int32_t rows, std::int32_t cols, ViewOn&& view_on) {
  const auto count = [&](const auto& where, std::int64_t* counts) {
    const auto a = view_on(where);
    run_pass(where, a.stored_rows(), CountEntries<std::remove_const_t<decltype(a)>, std::int64_t>{a, counts});
  };
  CheckedOffsets<Offset> sizes = checked_offsets<Offset>(ctx, rows, "csr row_offsets", count);
  Array<std::int32_t> col_indices(sizes.nnz, "csr col_indices");
  Array<T> values(sizes.nnz, "csr values");
  ctx.dispatch([&](const auto& where) {
    const auto a = view_on(where);
    const CsrView<kernel_t<T>, Offset> to{
        rows, cols, sizes.nnz, sizes.offsets.update(where), col_indices.write(where), values.write(where)};
    run_pass(where, a.stored_rows(), FillCsr<std::remove_const_t<decltype(a)>, Offset>{a, to});
  });
  return {cols, std::move(sizes.offsets), std::move(col_indices), std::move(values)};
}

}  // namespace krill::detail
