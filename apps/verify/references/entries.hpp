// The entries of a matrix, read from the raw arrays of its format as docs/formats.md describes them.
#pragma once
#include "apps/verify/references/rows.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill::apps::verify {

/// All stored entries of a matrix in any format, by row, then by column. Zeros are left out where the format fills up
/// with them (`without_zeros`). Raises InvalidArgument where the arrays break an invariant of the format: an index
/// outside of the matrix, entries out of order, padding before entries or with a value, a wrong number of entries.
template <class T>
std::vector<Entry<T>> entries_of(const AnyMatrix<T>& A, bool without_zeros);
template <class T>
std::vector<Entry<T>> entries_of(const Rows<T>& A, bool without_zeros);

/// The same by rows, with zeros.
template <class T>
Rows<T> rows_of(const AnyMatrix<T>& A);
template <class T, class Offset>
Rows<T> rows_of(const Csr<T, Offset>& A);

/// The same matrix in CSR.
template <class T>
Csr<T> csr_of(const Rows<T>& A) {
  return {A.cols, Array<std::int32_t>(std::vector<std::int32_t>(A.offsets.begin(), A.offsets.end())),
          Array<std::int32_t>(std::vector<std::int32_t>(A.col)), Array<T>(std::vector<T>(A.value))};
}

}  // namespace krill::apps::verify
