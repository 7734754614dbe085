// Sparse <-> dense, and counts of nonzero entries (kernel catalogue 14.2: CNV-CSR2DENSE, CNV-CSC2DENSE, CNV-NNZ,
// CNV-DENSE2CSR, CNV-DENSE2CSC).
//
// A compressed sparse column matrix is its transpose in CSR, and a dense matrix is its transpose in the other order. So
// every kernel here serves columns, too: hand over the arrays of the one as a CsrView of the transpose and
// DenseView::transposed() of the other.
#pragma once
#include "sparse/formats/csr.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

/// A as a dense matrix; zeros where nothing is stored, padding unspecified. The result of any run is the same.
/// Moves rows cols sizeof T + nnz (sizeof T + 4) bytes. Raises InvalidArgument where the leading dimension is too
/// small.
template <class T, class Offset>
Dense<T> to_dense(Context&, const Csr<T, Offset>& A, Order order = Order::column_major,
                  std::int64_t leading_dimension = 0);

/// D = A; the padding of D is left as it is. Asynchronous, capturable after a first run. Raises ShapeMismatch.
template <class T, class Offset>
void to_dense(Context&, const Csr<T, Offset>& A, Dense<T>& D);

/// The nonzero entries of D. NaN is nonzero, -0 is zero. Reads D twice; three times where it has few rows.
/// Waits for the number of entries. Raises InvalidArgument where that does not fit Offset.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> to_csr(Context&, const Dense<T>& D);

/// What is counted by itself: rows, or columns.
enum class Direction { rows, columns };

/// counts[i] = the nonzero entries of row (column) i of D; total[0] = those of D. NaN is nonzero, -0 is zero. `counts`
/// has D.rows() (D.cols()) entries, `total` one. Reads D once; the same in every run. Asynchronous, capturable after a
/// first run. Raises ShapeMismatch.
template <class T>
void count_nonzeros(Context&, const Dense<T>& D, Direction, Array<std::int32_t>& counts, Array<std::int64_t>& total);

// The kernels behind the doors, on views: pointers on the tag's side, any index base.

/// d = a, zeros where nothing is stored. The rows of `a` need not be sorted; no entry may be there twice.
template <class T, class Offset>
void csr_to_dense(const Host&, const CsrView<const T, Offset>& a, const DenseView<T>& d);
template <class T, class Offset>
void csr_to_dense(const Cuda&, const CsrView<const T, Offset>& a, const DenseView<T>& d);

/// counts[i] = the nonzero entries of row i of d, *total = their sum; with a threshold (prune.hpp), those above it.
template <class T, class Count>
void count_nonzeros(const Host&, const DenseView<const T>& d, Count* counts, std::int64_t* total, double threshold = 0);
template <class T, class Count>
void count_nonzeros(const Cuda&, const DenseView<const T>& d, Count* counts, std::int64_t* total, double threshold = 0);

/// The columns and values of these entries, where out.row_offsets, which is given, says that they belong.
template <class T, class Offset>
void dense_to_csr(const Host&, const DenseView<const T>& d, const CsrView<T, Offset>& out, double threshold = 0);
template <class T, class Offset>
void dense_to_csr(const Cuda&, const DenseView<const T>& d, const CsrView<T, Offset>& out, double threshold = 0);

}  // namespace krill
