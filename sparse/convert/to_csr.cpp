#include "krill/sparse/convert/convert_passes.hpp"
#include "krill/sparse/convert/formats.hpp"
#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/convert/to_csr_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {
namespace {

/// CSR of the row view that view_on(where) gives.
template <class T, class Offset, class ViewOn>
Csr<T, Offset> rows_to_csr(Context& ctx, std::int32_t rows, std::int32_t cols, ViewOn&& view_on) {
  const auto count = [&](const auto& where, std::int64_t* counts) {
    const auto a = view_on(where);
    run_pass(where, a.stored_rows(), CountEntries<std::remove_const_t<decltype(a)>, std::int64_t>{a, counts});
  };
  Array<std::int64_t> wide = scanned<std::int64_t>(ctx, rows, "csr row_offsets", count);
  const std::int64_t nnz = last_offset(ctx, wide);
  require_offsets_fit<Offset>(nnz);
  Array<Offset> row_offsets(rows + std::int64_t{1}, "csr row_offsets");
  Array<std::int32_t> col_indices(nnz, "csr col_indices");
  Array<T> values(nnz, "csr values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, row_offsets.size(),
             ConvertOffsets<std::int64_t, Offset>{wide.read(where), row_offsets.write(where)});
    const auto a = view_on(where);
    const CsrView<kernel_t<T>, Offset> to{
        rows, cols, nnz, row_offsets.update(where), col_indices.write(where), values.write(where)};
    run_pass(where, a.stored_rows(), FillCsr<std::remove_const_t<decltype(a)>, Offset>{a, to});
  });
  return {cols, std::move(row_offsets), std::move(col_indices), std::move(values)};
}

}  // namespace

template <class T, class Offset, template <class> class Format>
Csr<T, Offset> to_csr(Context& ctx, const Format<T>& A) requires RowFormat<Format<T>> {
  return rows_to_csr<T, Offset>(ctx, A.rows(), A.cols(), [&](const auto& where) { return A.view(where); });
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const CooAos<T>& A) {
  return to_csr<T, Offset>(ctx, to_coo(ctx, A));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Csc<T>& A) {
  return with_offsets<Offset>(ctx, transpose(ctx, A.transposed()));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Gebsc<T>& A) {
  return transpose(ctx, to_csr<T, Offset>(ctx, A.transposed()));
}

template <class T, class Offset>
Array<Offset> places_in_blocks(Context& ctx, const Bsr<T>& A, const Csr<T, Offset>& entries) {
  Array<Offset> places(entries.nnz(), "places in blocks");
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* offsets = A.row_offsets().read(where);
    const BsrView<const NoValue> pattern{
        A.rows(), A.cols(), A.blocks(), A.stored_blocks(), offsets, offsets + 1, A.col_indices().read(where)};
    run_pass(where, A.rows(), PlacesInBlocks<Offset>{pattern, entries.row_offsets().read(where), places.write(where)});
  });
  return places;
}

template <class T, template <class> class Format>
Csr<T, std::int64_t> to_csr_without_zeros(Context& ctx, const Format<T>& A) requires BlockFormat<Format<T>> {
  return rows_to_csr<T, std::int64_t>(ctx, A.rows(), A.cols(), [&](const auto& where) {
    const auto a = A.view(where);
    return Nonzeros<std::remove_const_t<decltype(a)>>{a, a.cols};
  });
}

#define INSTANTIATE(T, Offset)                                                             \
  template Csr<T, Offset> to_csr(Context&, const CooAos<T>&);                              \
  template Csr<T, Offset> to_csr(Context&, const Csc<T>&);                                 \
  template Csr<T, Offset> to_csr(Context&, const Bsr<T>&);                                 \
  template Csr<T, Offset> to_csr(Context&, const Bsrx<T>&);                                \
  template Array<Offset> places_in_blocks(Context&, const Bsr<T>&, const Csr<T, Offset>&); \
  template Csr<T, Offset> to_csr(Context&, const Gebsc<T>&);                               \
  template Csr<T, Offset> to_csr(Context&, const Ell<T>&);                                 \
  template Csr<T, Offset> to_csr(Context&, const Sell<T>&);                                \
  template Csr<T, Offset> to_csr(Context&, const Hyb<T>&);                                 \
  template Csr<T, Offset> to_csr(Context&, const Dia<T>&);                                 \
  template Csr<T, Offset> to_csr(Context&, const BlockedEll<T>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                          \
  template Csr<T, std::int64_t> to_csr_without_zeros(Context&, const Bsr<T>&);  \
  template Csr<T, std::int64_t> to_csr_without_zeros(Context&, const Bsrx<T>&); \
  template Csr<T, std::int64_t> to_csr_without_zeros(Context&, const BlockedEll<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
