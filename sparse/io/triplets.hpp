// A matrix exactly as a file stores it, and the step from there to a canonical matrix.
#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "sparse/formats/any_matrix.hpp"
#include "sparse/io/buffer.hpp"
#include "sparse/io/matrix_kind.hpp"

namespace krill {

/// The entries as stored, zero-based, in the order of the file: symmetry is not expanded, duplicates are not summed.
template <class T>
struct Triplets {
  std::string name;  ///< of the file, for messages
  std::int32_t rows = 0, cols = 0;
  Buffer<std::int32_t> row, col;  ///< vectors
  Buffer<T> value;
  Symmetry symmetry = Symmetry::general;
  Field field = Field::real;
  bool dense = false;  ///< read from an array: every place is stored, zeros too
};

/// a(j,i), where a(i,j) is `value`.
template <class T>
T mirror_value(Symmetry symmetry, T value) {
  if (symmetry == Symmetry::skew_symmetric) return -value;
  if constexpr (is_complex<T>)
    if (symmetry == Symmetry::hermitian) return std::conj(value);
  return value;
}

/// Dense columns of equal length: right-hand sides, guesses, solutions. Entry (i, k) is values[i + k * rows].
template <class T>
struct Columns {
  std::int32_t rows = 0, cols = 0;
  std::vector<T> values;
};

/// What was found, and done, on the way to a canonical matrix. Rows and columns count from 0; -1: there is none.
struct CanonicalReport {
  std::int64_t stored_entries = 0;    ///< in the file
  std::int64_t expanded_entries = 0;  ///< with those that follow from symmetry, before sums
  std::int64_t nnz = 0;               ///< of the canonical matrix
  std::int64_t duplicates = 0;        ///< expanded entries that were added to another one
  std::int64_t explicit_zeros = 0;    ///< stored entries of the canonical matrix that are 0; kept
  std::int64_t mirrored = 0;          ///< entries of a Hermitian file whose mirror image was stored too; taken once
  std::int64_t missing_diagonal = 0;  ///< rows i < min(rows, cols) that store no a(i,i)
  std::int32_t first_missing_diagonal = -1;
  std::int64_t non_finite = 0;  ///< NaN or infinite entries; kept
  std::int32_t first_non_finite_row = -1, first_non_finite_col = -1;
};

/// The canonical CSR matrix: symmetry expanded, columns ascending, duplicates summed in the order of the file, explicit
/// zeros kept (those of a dense array dropped). Offsets are std::int64_t from 2^31 expanded entries on.
///
/// A symmetric or skew-symmetric matrix that stores an entry in both triangles raises InvalidArgument, which names it:
/// it could mean a sum or the same entry twice. In a Hermitian one, two exact conjugates can only be the same entry,
/// which is taken once. Raises OutOfMemory before it allocates more than there is. O(nnz + nnz log(entries a row)), in
/// parallel; bytes: 12 a float64 entry beside the triplets, which are used up. Repeatable for any number of threads.
template <class T>
AnyMatrix<T> assemble(Triplets<T> stored, CanonicalReport& report);

/// Rows [begin, end) of that matrix, where `stored` has all entries of them, and those that they follow from, in the
/// order of the file. The report is of these rows; of stored entries it tells what is in `stored`, and of mirrored ones
/// as many as there are in the rows, so that each is one of two rows'. Raises as assemble().
template <class T>
AnyMatrix<T> assemble_rows(Triplets<T> stored, std::int32_t begin, std::int32_t end, CanonicalReport& report);

/// The report of rows, and of others behind them, together.
void add_rows(CanonicalReport&, const CanonicalReport& behind);

}  // namespace krill
