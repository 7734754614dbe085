// From CSR to batches of tridiagonal and pentadiagonal matrices.
#pragma once
#include "sparse/formats/banded.hpp"

namespace krill {

/// Entries that no band has room for: all are refused; only those between rows of one system are, and those between
/// systems are left out; all are left out.
enum class OutsideBands { refused, refused_in_systems, dropped };

/// The entries of A between rows of one system, by bands: row p of A is row layout.row_at(p) of its system. The layout
/// has no padding and as many unknowns as A has rows; one system by default, so that A is its matrix. O(nnz), on the
/// matrix's side; waits for the word on entries outside.
/// Raises ShapeMismatch where sizes differ or A is not square; InvalidArgument, which names the entry, where one is
/// refused.
template <class T, class Offset>
Banded<T> to_banded(Context&, const Csr<T, Offset>& A, const BandLayout& layout, int diagonals = 3,
                    OutsideBands = OutsideBands::refused);
template <class T, class Offset>
Banded<T> to_banded(Context& ctx, const Csr<T, Offset>& A, int diagonals = 3) {
  return to_banded(ctx, A, BandLayout::single(A.rows()), diagonals);
}

/// The greatest |i - j| over the entries of A. O(nnz), on the matrix's side. Waits.
template <class T, class Offset>
std::int64_t bandwidth(Context&, const Csr<T, Offset>& A);

/// The values of A into bands that are there already.
template <class T, class Offset>
void update_values(Context&, const Csr<T, Offset>& A, Banded<T>& to, OutsideBands);

}  // namespace krill
