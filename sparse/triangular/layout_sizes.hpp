// How large a TriangularPlan will be: counted on the host, for either backend, before there is one.
#pragma once
#include "krill/sparse/formats/csr.hpp"
#include "krill/sparse/triangular/triangle.hpp"

namespace krill {

/// A triangle as a TriangularPlan lays it out.
struct TriangleSizes {
  std::int64_t entries = 0;  ///< beside the diagonal
  std::int64_t places = 0;   ///< of entries, padding included
  std::int64_t slices = 0, tasks = 0;
  std::int32_t levels = 0;                    ///< 0: rows as they stand
  std::size_t row_bytes = 0, task_bytes = 0;  ///< of what is kept for each row and task
};

/// Of A's triangle beside the diagonal; A has to be square. `by_level`: sorted by level. O(nnz), on the host.
template <class T, class Offset>
TriangleSizes count_triangle(Context& host, const Csr<T, Offset>& A, Fill, bool by_level, bool for_cuda);

}  // namespace krill
