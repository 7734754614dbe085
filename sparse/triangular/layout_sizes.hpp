// The size of a TriangularPlan on either backend, counted on the host before the plan is made.
#pragma once
#include "sparse/formats/csr.hpp"
#include "sparse/triangular/levels.hpp"

namespace krill::detail {

/// A triangle as a TriangularPlan lays it out.
struct TriangleSizes {
  std::int64_t places = 0;  ///< of entries, padding included
  std::int64_t slices = 0, tasks = 0;
};

/// Of the triangle that the schedule, found on the host, is of; A has to be square. O(nnz), on the host.
template <class T, class Offset>
TriangleSizes count_triangle(Context& host, const Csr<T, Offset>& A, const LevelSchedule&, bool for_cuda);

/// Entries of A's triangle beside the diagonal. O(nnz), on the host.
template <class T, class Offset>
std::int64_t count_entries(const Csr<T, Offset>& A, Fill fill) {
  const auto offsets = A.row_offsets().host();
  const auto columns = A.col_indices().host();
  std::int64_t count = 0;
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      count += fill == Fill::lower ? columns[k] < i : columns[k] > i;
  return count;
}

}  // namespace krill::detail
