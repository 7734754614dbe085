// The rows of each rank of a team, brought together.
#pragma once
#include <optional>

#include "solvers/method/options.hpp"
#include "sparse/order/ordering.hpp"
#include "sparse/parallel/row_partition.hpp"

namespace krill {

struct RankRows {
  RowPartition partition;            ///< of the rows in the new order
  std::optional<Ordering> ordering;  ///< none: rows stay as they are, or as `first` has them
};

/// Rows for so many ranks by a partition that is not RowsPartition; all in the order of `first`, where that is not
/// null. The graph's partition gives each `block` rows of that order to the rank of the first of them. O(nnz), on the
/// host. With a team in the context all ranks take part. Raises InvalidArgument where a given partition has a number
/// that is no rank's or divides such a block, where ranks have different ones, and as partition_graph does;
/// ShapeMismatch where it has another length; and TeamFailure.
template <class T, class Offset>
RankRows rows_of_ranks(Context&, const PartitionOptions&, const Csr<T, Offset>& A, const Ordering* first, int ranks,
                       std::int32_t block = 1);
HeldMemory rows_of_ranks_memory(MemoryLedger&, const PartitionOptions&, const CsrSizes& A);

}  // namespace krill
