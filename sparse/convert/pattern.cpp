#include "sparse/convert/pattern.hpp"

#include "sparse/convert/convert.hpp"

namespace krill {

template <class Offset>
TransposeIndices<Offset> transpose_pattern(Context& ctx, std::int32_t cols, const Array<Offset>& row_offsets,
                                           const Array<std::int32_t>& col_indices) {
  const auto rows = static_cast<std::int32_t>(detail::rows_of(row_offsets.size()));
  const std::int64_t nnz = col_indices.size();
  TransposeIndices<Offset> made{Array<Offset>(cols + std::int64_t{1}, "csr row_offsets"),
                                Array<std::int32_t>(nnz, "csr col_indices"),
                                Array<Offset>(nnz, "transpose permutation")};
  ctx.dispatch([&](const auto& where) {
    csr_transpose<NoValue, Offset>(where, {rows, cols, nnz, row_offsets.read(where), col_indices.read(where)}, false,
                                   {cols, rows, nnz, made.row_offsets.write(where), made.col_indices.write(where)},
                                   made.permutation.write(where));
  });
  return made;
}

template TransposeIndices<std::int32_t> transpose_pattern(Context&, std::int32_t, const Array<std::int32_t>&,
                                                          const Array<std::int32_t>&);
template TransposeIndices<std::int64_t> transpose_pattern(Context&, std::int32_t, const Array<std::int64_t>&,
                                                          const Array<std::int32_t>&);

}  // namespace krill
