// Arrays that count from one, made to count from zero, and back (kernel catalogue COM-BASE, HIP-INDEXBASE).
//
// Owning types, plans and factors count from zero; so do the rows that they report: a zero pivot in row i is in row
// i + 1 of arrays that count from one. Kernels on views take either base where the view says which.
#pragma once
#include "sparse/formats/csr.hpp"

namespace krill {

/// Offsets or indices that count from one, counted from zero. Negative ones, the padding of ELL formats, stay as they
/// are. An index 0, which was none, becomes -1, so that validate() of the matrix names it. Moves 2 n indices;
/// asynchronous.
template <class Index>
Array<Index> from_base_one(Context&, const Array<Index>& indices);

/// Offsets or indices that count from zero, counted from one; negative ones stay. Cost as above.
template <class Index>
Array<Index> to_base_one(Context&, const Array<Index>& indices);

/// The matrix of CSR arrays that count from one: its own copy of the indices, O(nnz), and the values taken over. Arrays
/// may borrow the caller's memory, which stays as it is. Other formats take their arrays one by one. Raises
/// ShapeMismatch as the constructor does; the entries are checked by validate().
template <class T, class Offset>
Csr<T, Offset> from_base_one(Context& ctx, std::int32_t cols, const Array<Offset>& row_offsets,
                             const Array<std::int32_t>& col_indices, Array<T> values) {
  return {cols, from_base_one(ctx, row_offsets), from_base_one(ctx, col_indices), std::move(values)};
}

}  // namespace krill
