// Symmetric reorderings of square systems: with P A P^T and P b in the place of A and b, the solution is P x. Another
// one comes with a coloring (coloring.hpp), one of rows alone with a matching (matching.hpp).
#pragma once
#include <span>
#include <vector>

#include "sparse/formats/csr_sizes.hpp"

namespace krill {

/// Which row comes when. Vectors follow: apply_permutation(ctx, b, ordering.order(), reordered) gives P b, and
/// apply_inverse_permutation undoes it.
class Ordering {
 public:
  /// Row i of the reordered system is row order[i] of the old one. O(n), on the host. Raises InvalidArgument that names
  /// the entry unless `order` holds each of 0 to n - 1 once.
  explicit Ordering(Array<std::int32_t> order);
  /// Both ways, which undo each other; that is not checked.
  Ordering(Array<std::int32_t> order, Array<std::int32_t> inverse)
      : order_(std::move(order)), inverse_(std::move(inverse)) {
    require_size("ordering: inverse permutation", inverse_.size(), order_.size());
  }

  static HeldMemory memory(MemoryLedger& ledger, std::int32_t size) {
    return ledger.hold<std::int32_t>(2 * std::int64_t{size});
  }

  std::int32_t size() const { return static_cast<std::int32_t>(order_.size()); }
  const Array<std::int32_t>& order() const { return order_; }      ///< new to old
  const Array<std::int32_t>& inverse() const { return inverse_; }  ///< of order(): old to new

 private:
  Array<std::int32_t> order_, inverse_;
};

/// P A P^T, which follows new values of A.
template <class T, class Offset>
class Reordered {
 public:
  /// Costs a sort of the entries: O(nnz); 8 + sizeof Offset bytes an entry of workspace beside the sort's. On the
  /// context's side, without a wait. Raises ShapeMismatch unless A is square and as large as the ordering.
  Reordered(Context&, const Csr<T, Offset>& A, const Ordering&);
  /// P A: rows alone move.
  static Reordered of_rows(Context&, const Csr<T, Offset>& A, const Ordering&);
  /// Of which the matrix stays, when it is released.
  static HeldMemory memory(MemoryLedger&, const CsrSizes& A);

  const Csr<T, Offset>& matrix() const { return matrix_; }
  /// New values of the same pattern. Moves nnz (2 sizeof T + sizeof Offset) bytes. Raises ShapeMismatch.
  void update(Context&, const Csr<T, Offset>& A);
  Csr<T, Offset> release() && { return std::move(matrix_); }

 private:
  Reordered(Context&, const Csr<T, Offset>& A, const Ordering&, bool with_columns);

  Array<Offset> permutation_;  // entry k is A's entry permutation_[k]; found along with the matrix
  Csr<T, Offset> matrix_;
};

/// The reverse Cuthill-McKee ordering (Cuthill and McKee 1969; George 1971) of A's pattern joined with its transpose's:
/// neighbors lie close together, so the bandwidth is small. Each component starts from an end of it that is found as
/// George and Liu (1979) do. But for the transposition on the host, one thread, O(nnz log of the row length); the same
/// in every run. Raises ShapeMismatch unless A is square.
template <class T, class Offset>
Ordering reverse_cuthill_mckee(Context&, const Csr<T, Offset>& A);
HeldMemory reverse_cuthill_mckee_memory(MemoryLedger&, const CsrSizes& A);

/// The approximate minimum degree ordering (Amestoy, Davis and Duff 1996) of A's pattern joined with its transpose's,
/// by Eigen: a complete factorization in that order fills in little. One thread; the same in every run. Raises
/// ShapeMismatch unless A is square, InvalidArgument for more than 715 million entries.
template <class T, class Offset>
Ordering approximate_minimum_degree(Context&, const Csr<T, Offset>& A);

/// Nested dissection (George 1973) of A's pattern joined with its transpose's, by METIS (Karypis and Kumar 1998): of
/// large grids, complete factors in that order have fewer entries and take less work than by minimum degree. One
/// thread, O(nnz log n), some ten times as long as minimum degree; the same in every run. Raises ShapeMismatch unless A
/// is square, InvalidArgument where this build has no METIS.
template <class T, class Offset>
Ordering nested_dissection(Context&, const Csr<T, Offset>& A);
HeldMemory nested_dissection_memory(MemoryLedger&, const CsrSizes& A);

/// A part, from 0 to parts - 1, for each row, such that parts have about equally many rows (or cost about the same,
/// where `costs` has a positive number for each row) and few entries of A's pattern, joined with its transpose's, lie
/// between two of them: k-way partitioning by METIS (Karypis and Kumar 1998). Parts may be empty where there are few
/// rows. One thread, O(nnz + parts log parts); the same in every run. Raises ShapeMismatch unless A is square,
/// InvalidArgument where this build has no METIS and for fewer than 1 part.
template <class T, class Offset>
std::vector<std::int32_t> partition_graph(Context&, const Csr<T, Offset>& A, std::int32_t parts,
                                          std::span<const std::int64_t> costs = {});

}  // namespace krill
