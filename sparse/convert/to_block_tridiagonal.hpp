// From BSR and CSR to batches of block tridiagonal matrices.
#pragma once
#include "sparse/convert/to_banded.hpp"
#include "sparse/formats/block_tridiagonal.hpp"

namespace krill {

/// The blocks of A between block rows of one system: block row p of A is block row layout.row_at(p) of its system. The
/// layout has no padding and as many block rows as A; one system by default, so that A is its matrix. Blocks of columns
/// (BlockOrder::column_major) are turned. O(block rows), on the matrix's side; waits for the word on blocks outside.
/// Raises ShapeMismatch where sizes differ or A is not square; InvalidArgument where blocks are not square or of more
/// than largest_tridiagonal_block rows, and, with the block's row and column, where one is refused.
template <class T>
BlockTridiagonal<T> to_block_tridiagonal(Context&, const Bsr<T>& A, const BandLayout& layout,
                                         OutsideBands = OutsideBands::refused);
template <class T>
BlockTridiagonal<T> to_block_tridiagonal(Context& ctx, const Bsr<T>& A) {
  return to_block_tridiagonal(ctx, A, BandLayout::single(A.block_rows()));
}
/// The same of A in blocks of `size` rows and columns, by way of BSR, which refuses blocks that are nearly empty
/// (GrowthLimit). A has a multiple of `size` rows.
template <class T, class Offset>
BlockTridiagonal<T> to_block_tridiagonal(Context&, const Csr<T, Offset>& A, int size, const BandLayout& layout,
                                         OutsideBands = OutsideBands::refused);
template <class T, class Offset>
BlockTridiagonal<T> to_block_tridiagonal(Context& ctx, const Csr<T, Offset>& A, int size) {
  return to_block_tridiagonal(ctx, A, size, BandLayout::single(A.rows() / (size > 0 ? size : 1)));
}

/// The values of A into blocks that are there already.
template <class T>
void update_values(Context&, const Bsr<T>& A, BlockTridiagonal<T>& to, OutsideBands);

}  // namespace krill
