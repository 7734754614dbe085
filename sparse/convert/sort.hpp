// Permutations, and sorting of indices (kernel catalogue 14.3). All sorts are stable, order signed integers, take any
// index base, and give the same result in every run, on every backend, for any number of threads.
//
// A sort permutes whatever `permutation` holds along with the indices: start from identity_permutation(), and values
// follow by apply_permutation(values).
#pragma once
#include <limits>

#include "sparse/core/array.hpp"
#include "sparse/core/memory_ledger.hpp"

namespace krill {

/// 0, 1, ..., n - 1 (CNV-IDENTITYPERM). Index: std::int32_t or std::int64_t. Raises InvalidArgument where n is negative
/// or does not fit Index.
template <class Index>
Array<Index> identity_permutation(Context&, std::int64_t n);

/// What indices may be, both ends included. Where a sort is told, it looks at fewer bits; an index outside of what it
/// was told spoils the result.
struct IndexRange {
  std::int32_t first = std::numeric_limits<std::int32_t>::min(), last = std::numeric_limits<std::int32_t>::max();
};

/// Sorts the pairs (row_indices[k], col_indices[k]) by row, then by column, in place (CNV-COOSORT-BYROW). Three arrays
/// of one size. On CUDA a radix sort: O(nnz) for each 8 bits of the two ranges, with 16 + 2 sizeof Index bytes of
/// workspace an entry; on the host a merge sort. Asynchronous, capturable after a first run. Raises ShapeMismatch and
/// InvalidArgument.
template <class Index>
void sort_by_row(Context&, Array<std::int32_t>& row_indices, Array<std::int32_t>& col_indices,
                 Array<Index>& permutation, IndexRange row_range = {}, IndexRange col_range = {});

/// Its workspace.
void sort_by_row_scratch(MemoryLedger&, std::int64_t n, std::size_t index_bytes);

/// The same by column, then by row (CNV-COOSORT-BYCOL).
template <class Index>
void sort_by_column(Context&, Array<std::int32_t>& row_indices, Array<std::int32_t>& col_indices,
                    Array<Index>& permutation, IndexRange row_range = {}, IndexRange col_range = {});

/// Sorts col_indices inside every row, in place (CNV-CSRSORT); with column offsets and row indices it sorts a
/// compressed sparse column matrix (CNV-CSCSORT). row_offsets may count from anything and stay. Cost as of sort_by_row,
/// with the bits of the row numbers and of col_range; on the host each row by itself. Rows may be of any length.
/// Asynchronous, capturable after a first run. Raises ShapeMismatch and InvalidArgument.
template <class Offset>
void sort_within_rows(Context&, const Array<Offset>& row_offsets, Array<std::int32_t>& col_indices,
                      Array<Offset>& permutation, IndexRange col_range = {});

/// out[k] = in[permutation[k]]. Three arrays of one size, in and out not the same; T is a scalar or std::int32_t.
/// Moves nnz (2 sizeof T + sizeof Index) bytes. Asynchronous, capturable after a first run. Raises ShapeMismatch and
/// InvalidArgument.
template <class T, class Index>
void apply_permutation(Context&, const Array<T>& in, const Array<Index>& permutation, Array<T>& out);

/// out[permutation[k]] = in[k], what undoes apply_permutation.
template <class T, class Index>
void apply_inverse_permutation(Context&, const Array<T>& in, const Array<Index>& permutation, Array<T>& out);

/// Between the order of a user's own that the entries of a CSR matrix have inside each row, and the sorted one
/// (FMT-CSRU; CNV-CSRU2CSR, CNV-CSR2CSRU). The permutation is found once and kept here.
template <class Offset = std::int32_t>
class SortedOrder {
 public:
  /// Sorts the entries of every row by column, in place, values with them. The first call sorts and keeps the
  /// permutation (not inside a solver's loop); later ones apply it without a look at the indices, so they are for
  /// matrices of the same order.
  /// Later calls allocate nothing but workspace (4 + sizeof T bytes an entry), are asynchronous, and can be captured
  /// after one with the same T. Raises ShapeMismatch and InvalidArgument.
  template <class T>
  void sort(Context&, const Array<Offset>& row_offsets, Array<std::int32_t>& col_indices, Array<T>& values);

  /// The user's own order again, in place. Cost as of a later sort(). Raises InvalidArgument before a first sort().
  template <class T>
  void unsort(Context&, Array<std::int32_t>& col_indices, Array<T>& values) const;

  bool known() const { return known_; }
  /// Sorted entry k is the user's entry permutation()[k]. Empty before the first sort().
  const Array<Offset>& permutation() const { return permutation_; }

 private:
  bool known_ = false;
  Array<Offset> permutation_;
};

/// What CUB's radix sort of n keys counts in, beside the pairs: about 1 kB a tile of some 30 kB of keys.
constexpr std::size_t radix_sort_counts(std::int64_t n, std::size_t key_bytes) {
  return 8192 + static_cast<std::size_t>(n) * key_bytes / 28;
}
/// The workspace of sort_by_key (radix_sort.cuh) for keys below `end`: where they have more bits than one pass sorts
/// by, the pairs once more.
constexpr std::size_t radix_sort_scratch(std::int64_t n, std::int64_t end, std::size_t payload_bytes) {
  constexpr std::int64_t end_of_one_pass = 256;
  constexpr std::size_t key_bytes = sizeof(std::int32_t);
  const std::size_t pairs = end > end_of_one_pass ? static_cast<std::size_t>(n) * (key_bytes + payload_bytes) : 0;
  return pairs + radix_sort_counts(n, key_bytes);
}

// The kernels behind the doors: pointers on the tag's side.

template <class Index>
void identity_permutation(const Host&, std::int64_t n, Index* permutation);
template <class Index>
void identity_permutation(const Cuda&, std::int64_t n, Index* permutation);

/// Sorts n pairs by `major`, then by `minor`.
template <class Index>
void sort_pairs(const Host&, std::int64_t n, std::int32_t* major, std::int32_t* minor, Index* permutation,
                IndexRange major_range = {}, IndexRange minor_range = {});
template <class Index>
void sort_pairs(const Cuda&, std::int64_t n, std::int32_t* major, std::int32_t* minor, Index* permutation,
                IndexRange major_range = {}, IndexRange minor_range = {});

template <class Offset>
void sort_within_rows(const Host&, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                      std::int32_t* col_indices, Offset* permutation, IndexRange col_range = {});
template <class Offset>
void sort_within_rows(const Cuda&, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                      std::int32_t* col_indices, Offset* permutation, IndexRange col_range = {});

/// Of the conjugates, where that is wanted.
template <class T, class Index>
void apply_permutation(const Host&, std::int64_t n, const T* in, const Index* permutation, T* out,
                       bool conjugate = false);
template <class T, class Index>
void apply_permutation(const Cuda&, std::int64_t n, const T* in, const Index* permutation, T* out,
                       bool conjugate = false);

template <class T, class Index>
void apply_inverse_permutation(const Host&, std::int64_t n, const T* in, const Index* permutation, T* out);
template <class T, class Index>
void apply_inverse_permutation(const Cuda&, std::int64_t n, const T* in, const Index* permutation, T* out);

}  // namespace krill
