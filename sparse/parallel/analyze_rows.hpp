// What can be said of a matrix by ranks that have some of its rows each.
#pragma once
#include "sparse/io/analyze.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// What analyze() would say of the whole square matrix, as far as it does of AnalyzedRows; the same on all ranks.
/// Entries in columns of other ranks go to these once. As much memory again as the rows take, for a while. All ranks
/// take part. Raises TeamFailure, ShapeMismatch where the rows are not as many as the partition says, and
/// InvalidArgument where a column is not in the matrix.
template <class T>
MatrixProperties analyze_rows(Context&, Team&, const RowPartition&, const RowSlice<T>& own);

}  // namespace krill
