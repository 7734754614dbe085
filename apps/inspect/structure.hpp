// What inspection looks for beyond the properties of entries: what the pattern is like, and what could be made of it.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "apps/inspect/graph.hpp"
#include "apps/inspect/parallelism.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/io/analyze.hpp"

namespace krill::apps {

/// Rows, or columns, that are much longer than the others.
struct DenseLines {
  std::int64_t count = 0, limit = 0;  ///< those of more entries than `limit`
  std::optional<std::int32_t> first;
};

struct Structure {
  std::map<std::int64_t, std::int64_t> rows_by_length;  ///< entries to number of rows
  DenseLines dense_rows, dense_cols;

  // Of square matrices.
  std::optional<Components> components;
  std::int32_t block_dim = 1;  ///< 1: no blocks that are two thirds full
  double block_fill = 0;       ///< share of the places in the blocks that are entries
  std::vector<OrderLevels> orders;
  std::string no_orders;         ///< why there are none
  double scaled_row_spread = 0;  ///< greatest over least norm of rows after scaling ruiz; 0: not tried
};

/// On the host. O(nnz), dominated by two reorderings; `levels`: whether those are worth it whatever the size.
template <class T>
Structure look_at_structure(Context& host, const AnyMatrix<T>& A, const MatrixProperties&, bool levels);

}  // namespace krill::apps
