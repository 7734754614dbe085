// Rows of a distributed matrix on other ranks than those that have them.
#pragma once
#include "sparse/io/buffer.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// Some rows of a matrix, in columns of the whole matrix, ascending in each row.
template <class T>
struct HeldRows {
  Buffer<std::int64_t> offsets{0}, columns = {};
  Buffer<T> values = {};

  std::int64_t rows() const { return std::ssize(offsets) - 1; }
  /// As long as this stays as it is.
  RowSlice<T> slice() const {
    return RowSlice<T>(std::span<const std::int64_t>(offsets), std::span<const std::int64_t>(columns),
                       std::span<const T>(values));
  }
};

/// The rows of a matrix that the plan calls ghosts, in their order, from the ranks that own them. own: this rank's, as
/// the partition of the plan has them. On the host. All ranks take part, each with the rows it wants, which may be
/// none; two exchanges, of lengths and of entries, between ranks that want or give. Raises TeamFailure and
/// ShapeMismatch.
template <class T>
HeldRows<T> import_rows(Context&, Team&, const RowSlice<T>& own, const HaloPlan&);

/// The rows of this rank, of a matrix of which each rank has the columns of its own rows alone (as it has of A^T, whose
/// columns are rows of A): what it has in rows that others own goes to them. part: low ghosts, own rows and high ghosts
/// of the plan, in columns of the whole matrix. On the host; all ranks take part, in as many messages as above. Raises
/// TeamFailure and ShapeMismatch.
template <class T>
HeldRows<T> export_rows(Context&, Team&, const RowSlice<T>& part, const HaloPlan&);

}  // namespace krill
