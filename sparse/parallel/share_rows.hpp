// The rows of a matrix that every rank has, shared.
#pragma once
#include <optional>
#include <variant>

#include "sparse/core/team.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// Which rows are whose, and this rank's.
template <class T>
struct OwnRows {
  RowPartition partition;
  RowSlice<T> own;
};

/// Rows of about equal cost for each rank, which begin at multiples of `unit` rows: by default those of warps and
/// slices; or the rows of a partition that is there. A stays, and is the same on all ranks, which exchange nothing.
/// O(ranks log rows). Raises InvalidArgument where A is not in CSR.
template <class T>
OwnRows<T> share_rows(const AnyMatrix<T>& A, const Team& team, std::int64_t unit = 32,
                      const std::optional<RowPartition>& chosen = {}) {
  return std::visit(
      [&]<class Matrix>(const Matrix& a) -> OwnRows<T> {
        if constexpr (is_csr<Matrix>) {
          RowPartition partition = chosen ? *chosen : RowPartition::by_cost(a.row_offsets().host(), team.size(), unit);
          const RowSlice<T> own = slice_rows(a, partition.begin(team.rank()), partition.end(team.rank()));
          return {std::move(partition), own};
        } else {
          throw InvalidArgument("share_rows: the matrix has to be in CSR; to_csr() brings it there");
        }
      },
      A);
}

}  // namespace krill
