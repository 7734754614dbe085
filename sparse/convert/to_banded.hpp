// From CSR and DIA to batches of tridiagonal and pentadiagonal matrices.
#pragma once
#include "sparse/formats/banded.hpp"
#include "sparse/formats/dia.hpp"

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

/// The same of a matrix in DIA, whose diagonals become the bands where they lie, on the context's side: nothing is
/// copied. Diagonal k of all systems is the diagonal k layout.row_stride of A, one that A lacks is zeros. O(n), which
/// looks for entries between systems, of more than one system that may not have any; waits then.
/// Raises as for CSR, and InvalidArgument where A is in HDIA, or has a diagonal that is no band's and may not be left
/// out. A is then as it was.
template <class T>
Banded<T> to_banded(Context&, Dia<T>&& A, const BandLayout& layout, int diagonals = 3,
                    OutsideBands = OutsideBands::refused);
template <class T>
Banded<T> to_banded(Context& ctx, Dia<T>&& A, int diagonals = 3) {
  const BandLayout layout = BandLayout::single(A.rows());
  return to_banded(ctx, std::move(A), layout, diagonals);
}

/// The greatest |i - j| over the entries of A. O(nnz), on the matrix's side. Waits.
template <class T, class Offset>
std::int64_t bandwidth(Context&, const Csr<T, Offset>& A);

/// The values of A into bands that are there already.
template <class T, class Offset>
void update_values(Context&, const Csr<T, Offset>& A, Banded<T>& to, OutsideBands);

}  // namespace krill
